import type { Random } from '../prove/scenes/random.js';

/** How far a direction may be from a unit vector while its numbers are varied, as a share. */
const UNIT_SLACK = 1e-3;

export const isUnit = (n: ArrayLike<number>): boolean => Math.abs(Math.hypot(n[0]!, n[1]!, n[2]!) - 1) <= UNIT_SLACK;

export const many = (count: number, draw: () => number): number[] => Array.from({ length: count }, draw);

/** Most components are of one size, some are far smaller. */
export function vector(random: Random): number[] {
  return many(3, () => random.between(-1, 1) * (random.next() < 0.5 ? 1 : 10 ** random.between(-7, 0)));
}

export function unitVector(random: Random): number[] {
  const n = vector(random);
  const length = Math.hypot(...n);
  return n.map((value) => value / length);
}

export const largestOf = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);

/** The least floor of a pair that is moved, engine units. */
export const LEAST_FLOOR = 1e-3;
