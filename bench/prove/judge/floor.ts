import type { Positions } from '../../../src/mesh/types.js';
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
 * No less than the floor that a service goes by: δ/100, or what rounding asks for, 4 ulp of the answer's scalar and 8√3 u X
 * of the engine's coordinates, whose origin is not known here: X is taken as four times the largest coordinate. Beyond δ/16
 * a request is refused.
 *
 * @param delta of the parameters, the caller's unit
 */
export function floorAtMost(surface: Surface, start: Positions, delta: number, isSingle: boolean): number {
  const { smallest } = distanceRange(surface, delta);
  const engine = 4 * 8 * Math.sqrt(3) * 2 * ulpOf(start, true);
  const rounding = Math.max(4 * ulpOf(start, isSingle), engine);
  return 1.001 * Math.max(FLOOR_PER_DELTA * smallest, Math.min(smallest / 16, rounding));
}
