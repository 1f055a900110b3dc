import type { Positions } from '../../../src/contract/mesh.js';
import { crossOf, dotOf, minusOf, type Vector } from './nearest.js';

/** Dynamic vertices that only a plane keeps from their targets; three vertices of the plane, counter-clockwise. */
export interface Resting {
  readonly vertices: readonly number[];
  readonly on: readonly [number, number, number];
}

/**
 * Motions below a fiftieth of δ are not made, and the phase ends when little is gained: heights may be off by this many
 * δ. docs/method.md explains both.
 */
const ALLOWED = 0.05;

/**
 * Whether vertices that rest on a plane lie at the requested contact offset: neither nearer, nor farther without need.
 *
 * @param offset as requested, the caller's unit
 * @param delta δ, the caller's unit
 */
export function judgeResting(
  { vertices, on: [a, b, c] }: Resting,
  positions: Positions,
  offset: number,
  delta: number,
  find: (promise: string, details: string) => void,
): void {
  const at = (v: number): Vector => [positions[3 * v], positions[3 * v + 1], positions[3 * v + 2]];
  const normal = crossOf(minusOf(at(b), at(a)), minusOf(at(c), at(a)));
  const length = Math.hypot(...normal);
  for (const v of vertices) {
    const height = dotOf(minusOf(at(v), at(a)), normal) / length;
    if (Math.abs(height - offset) <= ALLOWED * delta) continue;
    find('contacts keep the offset that was asked', `vertex ${v} is ${height} above the plane, asked ${offset}`);
    return;
  }
}
