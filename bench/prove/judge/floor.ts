import type { Positions } from '../../../src/contract/mesh.js';
import { distanceRange, type Surface } from './surface.js';

/** The floor is at least this share of the smallest δ. */
export const FLOOR_PER_DELTA = 0.01;

/** Distance of neighbouring numbers of a scalar at the largest coordinate. */
export function ulpOf(x: ArrayLike<number>, isSingle: boolean): number {
  let largest = 0;
  for (let i = 0; i < x.length; i++) largest = Math.max(largest, Math.abs(x[i]));
  return largest === 0 ? 0 : 2 ** (Math.floor(Math.log2(largest)) - (isSingle ? 23 : 52));
}

/**
 * No less than the floor that a service goes by: δ/100, or what rounding asks for where start and target lie, 4 ulp of the
 * answer's scalar and 8√3 u X of the engine's coordinates, whose origin is not known here: X is taken as four times the
 * largest coordinate. It is never more than δ/16.
 *
 * @param delta of the parameters, the caller's unit
 */
export function floorAtMost(surface: Surface, start: Positions, target: Positions, delta: number): number {
  const { smallest } = distanceRange(surface, delta);
  const largest = (isSingle: boolean) => Math.max(ulpOf(start, isSingle), ulpOf(target, isSingle));
  const engine = 4 * 8 * Math.sqrt(3) * 2 * largest(true);
  const rounding = Math.max(4 * largest(target instanceof Float32Array), engine);
  return 1.001 * Math.max(FLOOR_PER_DELTA * smallest, Math.min(smallest / 16, rounding));
}
