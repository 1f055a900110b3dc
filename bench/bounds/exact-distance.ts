import { EDGE_EDGE, type PairCode, VERTEX_TRIANGLE } from '../../src/verify/pair-kinds.js';
import { ratioOf, toIntegers } from './exact.js';

type Vector = readonly [bigint, bigint, bigint];

/** A quotient of integers. */
interface Quotient {
  readonly over: bigint;
  /** above 0 */
  readonly under: bigint;
}

export const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

export const dot = (a: Vector, b: Vector): bigint => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** The vector whose coordinates start at 3·k. */
export const vectorAt = (values: readonly bigint[], k: number): Vector => [
  values[3 * k]!,
  values[3 * k + 1]!,
  values[3 * k + 2]!,
];

/**
 * The distance of a vertex and a triangle, or of two edges, from exact arithmetic: true to 2⁻⁵² of itself.
 *
 * @param points [12] finite, vertices of side a, then of side b
 */
export function exactDistance(code: PairCode, points: ArrayLike<number>): number {
  const { values, unit } = toIntegers(points);
  return distanceOf(code, values) * 2 ** unit;
}

/** The same for points whose coordinates are integers. */
export function distanceOf(code: PairCode, values: readonly bigint[]): number {
  const [p, q, r, s] = [0, 1, 2, 3].map((k) => vectorAt(values, k)) as [Vector, Vector, Vector, Vector];
  if (code !== VERTEX_TRIANGLE && code !== EDGE_EDGE)
    throw new Error('Only pairs of four vertices have a distance here.');
  const { over, under } = code === VERTEX_TRIANGLE ? ofTriangle(p, q, r, s) : ofEdges(p, q, r, s);
  return Math.sqrt(ratioOf(over, under));
}

const lesser = (a: Quotient, b: Quotient): Quotient => (b.over * a.under < a.over * b.under ? b : a);

/** Squared distance of p and the segment ab. */
function ofSegment(p: Vector, a: Vector, b: Vector): Quotient {
  const [d, w] = [minus(b, a), minus(p, a)];
  const [along, whole] = [dot(w, d), dot(d, d)];
  if (along <= 0n) return { over: dot(w, w), under: 1n };
  if (along >= whole) return { over: dot(minus(p, b), minus(p, b)), under: 1n };
  return { over: dot(w, w) * whole - along * along, under: whole };
}

function ofTriangle(p: Vector, a: Vector, b: Vector, c: Vector): Quotient {
  const [u, v, w] = [minus(b, a), minus(c, a), minus(p, a)];
  const n = cross(u, v);
  const nn = dot(n, n);
  const [ofB, ofC] = [dot(n, cross(w, v)), dot(n, cross(u, w))];
  const height = dot(n, w);
  if (nn > 0n && ofB >= 0n && ofC >= 0n && nn - ofB - ofC >= 0n) return { over: height * height, under: nn };
  return lesser(lesser(ofSegment(p, a, b), ofSegment(p, b, c)), ofSegment(p, c, a));
}

function ofEdges(a: Vector, b: Vector, c: Vector, d: Vector): Quotient {
  const [u, v, w] = [minus(b, a), minus(d, c), minus(a, c)];
  const n = cross(u, v);
  const nn = dot(n, n);
  const [s, t] = [dot(n, cross(v, w)), dot(n, cross(u, w))];
  const height = dot(n, w);
  if (nn > 0n && s >= 0n && s <= nn && t >= 0n && t <= nn) return { over: height * height, under: nn };
  return lesser(lesser(ofSegment(a, c, d), ofSegment(b, c, d)), lesser(ofSegment(c, a, b), ofSegment(d, a, b)));
}
