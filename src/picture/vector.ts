export type Vec = readonly [number, number, number];

export const sub = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const add = (a: Vec, b: Vec): Vec => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const scale = (a: Vec, by: number): Vec => [a[0] * by, a[1] * by, a[2] * by];
export const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec, b: Vec): Vec => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
/** The zero vector stays zero. */
export const normalise = (a: Vec): Vec => scale(a, 1 / (Math.hypot(...a) || 1));
export const at = (positions: ArrayLike<number>, i: number): Vec => [
  positions[3 * i],
  positions[3 * i + 1],
  positions[3 * i + 2],
];
