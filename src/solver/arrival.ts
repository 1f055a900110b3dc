import { ARRIVAL_ROUNDING, UNIT_ROUNDOFF } from './constants.js';

/**
 * Returns the difference in each coordinate up to which a vertex counts as arrived in float32: 4uX, where X is the
 * largest coordinate of the start. Vertices at rest may lie far beyond the coordinates that the floor covers, 8√3 uX ≤
 * floor; for all others 4uX is at most 0.29 floors.
 */
export function arrivedWithin(start: Float32Array, floor: number): number {
  return Math.min(ARRIVAL_ROUNDING * UNIT_ROUNDOFF * largestCoordinate(start), ARRIVAL_PER_FLOOR * floor);
}

/** 4/(8√3), rounded up, so that it decides only if resting vertices lie far outside */
const ARRIVAL_PER_FLOOR = 0.29;

function largestCoordinate(x: Float32Array): number {
  let largest = 0;
  for (let i = 0; i < x.length; i++) {
    const magnitude = Math.abs(x[i]);
    if (magnitude > largest) largest = magnitude;
  }
  return largest;
}
