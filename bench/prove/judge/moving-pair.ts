import { crossOf, minusOf, nearestDifference, type Vector } from './nearest.js';

/*
 * Whether two elements whose corners move on straight lines have a common point at some t in [0, 1], or come within a
 * distance s of each other.
 *
 * An interval [a, b] of time is free if one vector n keeps the sides apart at both of its ends, t = a and t = b:
 *
 *     min over side A of n·x(t)   >   max over side B of n·x(t) + s |n|
 *
 * The difference of the heights of two corners along n is linear in t, so the inequality holds between the ends, wherever the
 * two elements have moved together, and it holds for all points of both because these are convex combinations of the
 * corners. The vector may itself go from n at a to m at b. Then the difference of heights is a quadratic; it is positive
 * where n·x(a), m·x(b) and n·x(b) + m·x(a) all are higher for A than for B, because these are its coefficients in
 * Bernstein's basis (the middle one twice). The length of the vector is at most what goes linearly from |n| to |m|, whose
 * coefficients there are |n|, |m| and, twice, (|n| + |m|)/2. If no vector is found, the interval is halved. An interval that is
 * not proven free after MAX_DEPTH halvings counts as a meeting: a collision is never missed; a pair that comes within
 * rounding of touching, or of s, may be reported as one.
 *
 * Rounding. All corners are taken relative to one of them at t = 0, the same for both ends, which does not change the
 * result. With u = 2^-53 and M the largest |difference|: a difference has an error of u M; d0 + t (d1 − d0) of 6 u M in
 * all (two differences, the product and the sum, |d1 − d0| ≤ 2 M); three products and two sums with n add 3 u |n|₁ M.
 * So heights are correct within 10 u |n|₁ M; if they differ by more than 40 u |n|₁ M, they are certainly apart. The sum
 * of two heights is correct within 11 u (|n|₁ + |m|₁) M, so 40 u (|n|₁ + |m|₁) M suffices there, too.
 */

const ROUNDING = 40 * 2 ** -53;

/** Intervals of 2^-44: below that, positions differ only by rounding. */
const MAX_DEPTH = 44;

/** Intervals examined before a pair counts as a meeting; a difficult pair that does not meet takes hundreds. */
const MAX_INTERVALS = 100_000;

interface Corner {
  readonly at: Vector;
  readonly motion: Vector;
}

/** What heights must differ by: `margin` for rounding, over |n|₁, and the distance `apart`, over |n|. */
interface Room {
  readonly margin: number;
  readonly apart: number;
}

/**
 * @param start corners of side A, then of side B, at t = 0
 * @param end the same at t = 1
 * @param sizeA how many of them belong to side A: 1 or 2
 * @param apart the distance that counts as meeting
 * @returns a time before which they certainly do not meet, or undefined if they certainly never do
 */
export function findMeeting(
  start: readonly Vector[],
  end: readonly Vector[],
  sizeA: number,
  apart = 0,
): number | undefined {
  const o = start[0];
  let extent = 0;
  const corners = start.map((from, k): Corner => {
    const at = minusOf(from, o);
    const to = minusOf(end[k], o);
    extent = Math.max(extent, ...at.map(Math.abs), ...to.map(Math.abs));
    return { at, motion: minusOf(to, at) };
  });
  const room = { margin: ROUNDING * extent, apart };
  let left = MAX_INTERVALS;
  const search = (from: number, to: number, depth: number): number | undefined => {
    const earlier = place(corners, from);
    const later = place(corners, to);
    const middle = (from + to) / 2;
    if (isFree(earlier, later, place(corners, middle), sizeA, room)) return undefined;
    left--;
    if (depth === 0 || left <= 0) return from;
    return search(from, middle, depth - 1) ?? search(middle, to, depth - 1);
  };
  return search(0, 1, MAX_DEPTH);
}

const place = (corners: readonly Corner[], t: number): Vector[] =>
  corners.map(({ at, motion }): Vector => [at[0] + t * motion[0], at[1] + t * motion[1], at[2] + t * motion[2]]);

function isFree(
  earlier: readonly Vector[],
  later: readonly Vector[],
  middle: readonly Vector[],
  sizeA: number,
  room: Room,
): boolean {
  const isSeparating = (n: Vector): boolean => separates(n, earlier, later, sizeA, room);
  const direction = (x: readonly Vector[]) => nearestDifference(x.slice(0, sizeA), x.slice(sizeA));
  if ([middle, earlier, later].some((x) => isSeparating(direction(x)))) return true;
  if (featureNormals(middle, sizeA).some(isSeparating)) return true;
  const [n, m] = [direction(earlier), direction(later)];
  return edgesOf(earlier.length, sizeA).some(([i, j]) =>
    turnsBetween(acrossEdge(earlier, i, j, n), acrossEdge(later, i, j, m), earlier, later, sizeA, room),
  );
}

/** Pairs of corners of the same side. */
function edgesOf(count: number, sizeA: number): [number, number][] {
  const edges: [number, number][] = [];
  for (let j = 1; j < count; j++) for (let i = j < sizeA ? 0 : sizeA; i < j; i++) edges.push([i, j]);
  return edges;
}

/** The part of n at right angles to an edge, scaled to its length: two edges that turn side by side keep such vectors between them. */
function acrossEdge(x: readonly Vector[], i: number, j: number, n: Vector): Vector {
  const edge = minusOf(x[j], x[i]);
  const length = Math.hypot(...edge);
  const rest = crossOf(crossOf(edge, n), edge);
  const scale = length / Math.hypot(...rest);
  return [rest[0] * scale, rest[1] * scale, rest[2] * scale];
}

/** Whether a vector that goes from n to m keeps A above B all the time. */
function turnsBetween(
  n: Vector,
  m: Vector,
  earlier: readonly Vector[],
  later: readonly Vector[],
  sizeA: number,
  { margin, apart }: Room,
): boolean {
  const sizeOf = (v: Vector) => Math.abs(v[0]) + Math.abs(v[1]) + Math.abs(v[2]);
  const height = (v: Vector, x: Vector) => v[0] * x[0] + v[1] * x[1] + v[2] * x[2];
  const isAbove = (heights: readonly number[], size: number, length: number): boolean =>
    size > MIN_NORMAL &&
    Math.min(...heights.slice(0, sizeA)) - Math.max(...heights.slice(sizeA)) > margin * size + apart * length;
  const [first, last] = [sizeOf(n), sizeOf(m)];
  const [firstLength, lastLength] = [Math.hypot(...n), Math.hypot(...m)];
  return (
    isAbove(
      earlier.map((x) => height(n, x)),
      first,
      firstLength,
    ) &&
    isAbove(
      later.map((x) => height(m, x)),
      last,
      lastLength,
    ) &&
    isAbove(
      earlier.map((x, k) => height(n, later[k]) + height(m, x)),
      first + last,
      firstLength + lastLength,
    )
  );
}

/** Normals from the shapes of the two elements, for nearest points that are too close to give a direction. */
function featureNormals(x: readonly Vector[], sizeA: number): Vector[] {
  const b = x.slice(sizeA);
  if (b.length === 3) {
    const normal = crossOf(minusOf(b[1], b[0]), minusOf(b[2], b[0]));
    // In its plane, across a side: beside a long side the nearest points are too close to give an accurate direction.
    return [normal, ...[0, 1, 2].map((k) => crossOf(normal, minusOf(b[(k + 1) % 3], b[k])))];
  }
  if (sizeA === 2) return [crossOf(minusOf(x[1], x[0]), minusOf(b[1], b[0]))];
  return [];
}

function separates(
  n: Vector,
  earlier: readonly Vector[],
  later: readonly Vector[],
  sizeA: number,
  { margin, apart }: Room,
): boolean {
  const size = Math.abs(n[0]) + Math.abs(n[1]) + Math.abs(n[2]);
  // Also false if the vector contains NaN.
  if (!(size > MIN_NORMAL)) return false;
  const least = margin * size + apart * Math.hypot(...n);
  let [isAbove, isBelow] = [true, true];
  for (const state of [earlier, later]) {
    let [lowA, highA] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    let [lowB, highB] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let k = 0; k < state.length; k++) {
      const height = n[0] * state[k][0] + n[1] * state[k][1] + n[2] * state[k][2];
      if (k < sizeA) {
        lowA = Math.min(lowA, height);
        highA = Math.max(highA, height);
      } else {
        lowB = Math.min(lowB, height);
        highB = Math.max(highB, height);
      }
    }
    isAbove &&= lowA - highB > least;
    isBelow &&= lowB - highA > least;
  }
  return isAbove || isBelow;
}

/** Below this, products of n and a length could be subnormal, where relative errors do not hold. */
const MIN_NORMAL = 1e-140;
