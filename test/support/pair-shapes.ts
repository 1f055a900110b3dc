import { PairSet } from '../../src/solver/cpu/pair-set.js';
import { CORNERS, EE, SIDE_A, VE, VT, VV } from '../../src/solver/pair-kinds.js';
import type { Random } from './random.js';

export const KINDS = [VT, EE, VE, VV] as const;
export const KIND_NAMES = ['VT', 'EE', 'VE', 'VV'] as const;

/** Vertex ids 0, 1, … of the two sides of a lone pair. */
export function sidesOf(kind: number): { readonly a: number[]; readonly b: number[] } {
  const ids = Array.from({ length: CORNERS[kind] }, (_, v) => v);
  return { a: ids.slice(0, SIDE_A[kind]), b: ids.slice(SIDE_A[kind]) };
}

/** A set with one pair of the given kind over vertices 0, 1, … */
export function lonePair(kind: number): PairSet {
  return pairsOf([[kind, ...Array.from({ length: CORNERS[kind] }, (_, v) => v)]]);
}

/** @param list kind, then its vertices, side a first */
export function pairsOf(list: readonly (readonly number[])[]): PairSet {
  const pairs = new PairSet();
  for (const [kind, v0, v1, v2 = -1, v3 = -1] of list) pairs.push(kind, v0, v1, v2, v3, 0, 0, 0);
  return pairs;
}

/** How the points of a pair lie; every name is one way in which closest points degenerate, or none. */
export const SHAPES = [
  'general',
  'one line',
  'parallel',
  'needle',
  'zero length',
  'one point a side',
  'flat',
  'touching',
  'far from the origin',
  'sizes 1 to 1e4',
  'small whole numbers',
] as const;
export type Shape = (typeof SHAPES)[number];

/** float32[12] four points; side a comes first, so what a kind does not use is left over. */
export function placePair(random: Random, kind: number, shape: Shape): Float32Array {
  const vector = (size = 1): number[] => [0, 1, 2].map(() => size * random.between(-1, 1));
  const plus = (p: readonly number[], q: readonly number[], factor = 1): number[] => p.map((c, k) => c + factor * q[k]);
  let points = [vector(), vector(), vector(), vector()];
  const first = kind === EE ? 0 : 1;
  const second = kind === EE ? 2 : 1;
  const direction = vector();
  if (shape === 'one line') {
    points = points.map(() => plus([0, 0, 0], direction, random.between(-1, 1)));
  } else if (shape === 'parallel') {
    points[first + 1] = plus(points[first], direction);
    points[second + 1] = plus(
      points[second],
      plus(direction, vector(random() < 0.5 ? 0 : 1e-6)),
      random.between(-2, 2),
    );
  } else if (shape === 'needle') {
    points[second + 1] = plus(points[second], direction);
    points[3] = plus(plus(points[second], direction, random()), vector(10 ** random.between(-7, -2)));
  } else if (shape === 'zero length') {
    points[first + 1] = points[first];
    if (random() < 0.5) points[3] = points[2];
  } else if (shape === 'one point a side') {
    for (let k = first + 1; k < (kind === EE ? 2 : 4); k++) points[k] = points[first];
    if (kind === EE) points[3] = points[2];
  } else if (shape === 'flat') {
    points = points.map(([px, py]) => [px, py, 0.25]);
  } else if (shape === 'touching') {
    const on = kind === EE ? plus(points[2], plus(points[3], points[2], -1), random()) : points[1 + random.int(3)];
    points[0] = plus(on, vector(random() < 0.3 ? 0 : 10 ** random.between(-9, -3)));
  } else if (shape === 'far from the origin') {
    const centre = vector(1e3);
    points = points.map((p) => plus(centre, p));
  } else if (shape === 'sizes 1 to 1e4') {
    points = points.map((p) => plus([0, 0, 0], p, 10 ** random.between(-4, 0)));
  } else if (shape === 'small whole numbers') {
    points = points.map(() => [random.int(3), random.int(3), random.int(3)]);
  }
  return Float32Array.from(points.flat());
}

/**
 * A triangle or an edge of the given length and something that runs along it `gap` away, or through it where that is
 * negative, turned at random.
 *
 * @returns float32[12]; the gap holds up to the rounding of the positions
 */
export function placeTangent(
  random: Random,
  kind: number,
  length: number,
  gap: number,
  centre: readonly number[] = [0, 0, 0],
): Float32Array {
  const n = unit([0, 1, 2].map(() => random.between(-1, 1)));
  const u = unit(cross(n, Math.abs(n[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0]));
  const v = cross(n, u);
  const at = (s: number, t: number, h: number): number[] =>
    centre.map((value, c) => value + length * (s * u[c] + t * v[c]) + h * n[c]);
  const side = (): number => random.between(-1, 1);
  const over = at(0.1 * side(), 0.1 * side(), gap);
  if (kind === VT) return Float32Array.from([over, at(-1, -1, 0), at(1, -0.9, 0), at(side(), 1, 0)].flat());
  if (kind === EE) {
    const across = [at(0.1 * side(), -1, 0), at(0.1 * side(), 1, 0)];
    return Float32Array.from([at(-1, 0, gap), at(1, 0.3 * side(), gap), ...across].flat());
  }
  const below = at(0, 0, 0);
  if (kind === VE) return Float32Array.from([at(0, 0, gap), at(-1, 0.2, 0), at(1, -0.2, 0), below].flat());
  return Float32Array.from([at(0, 0, gap), below, below, below].flat());
}

function unit(p: readonly number[]): number[] {
  const size = Math.hypot(p[0], p[1], p[2]);
  return p.map((value) => value / size);
}

function cross(p: readonly number[], q: readonly number[]): number[] {
  return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
}
