import { CLOSEST_POINTS, closest } from '../cpu/closest.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from '../pair-kinds.js';

/**
 * Bound of the rounding of n·(p − o) in double, over Σ_c |n_c (p_c − o_c)|: one difference, one product and two sums
 * have an error of less than 5·2⁻⁵³, and 8·2⁻⁵³ covers the rounding of the bound itself and of a difference of two
 * heights.
 */
export const DOUBLE_ERROR = 2 ** -50;

/** Share of its gap that a pair keeps if it cannot pass, so that the next step has a usable normal. */
const LEFT_OF_GAP = 0.1;

/**
 * Share of the floor by which a direction must separate a pair at x, or of its distance if that is less than this share of
 * the floor. A direction that separates it by less there, and by far more at z, would let the pair come as near as that on
 * the way; but both ends are rounded to the numbers that are sent, which brings two elements nearer by up to 0.49 floors
 * (range.ts).
 */
const KEPT_ON_THE_WAY = 0.5;

export type Vector = readonly [number, number, number];

/** A pair whose vertices move from x to z, all in one straight piece. */
export interface MovingPair {
  /** float32[3·V] */
  readonly x: Float32Array;
  /** float32[3·V] */
  readonly z: Float32Array;
  readonly kind: number;
  /** vertices in slot order, as many as the kind has */
  readonly vertices: ArrayLike<number>;
}

/**
 * Returns the share of the motion from x to z that a pair allows: 1 if it stays apart on the whole piece, by half of the
 * floor, or of its distance if that is less than half of the floor, and ends no closer than the floor, or than it began.
 *
 * Corners move as p(s) = x + s (z − x), all with the same s. For a fixed direction n and corners a, b of the two sides
 *
 *   n·(a(s) − b(s)) = (1 − s) n·(a(0) − b(0)) + s n·(a(1) − b(1)),
 *
 * so g = min_a n·p − max_b n·p is nowhere in between less than the smaller of its values at x and at z: the hulls of
 * both sides never come nearer than that. The separating plane moves with the pair, so two elements that fly side by
 * side are separated as well as two that rest. g counts only beyond 2e, where e is the rounding of its heights in
 * double (certificate.ts has the same rule in float32). x and z are the float32 numbers that are committed, so no
 * further rounding follows.
 *
 * If no direction allows the whole piece, the result is the largest share s for which (1 − s) g(x) + s g(z) keeps a
 * tenth of the gap, and the floor if it had that. This is a proposal: the caller tests the pair again at the shorter
 * ends.
 */
export function passableShare(pair: MovingPair, floor: number): number {
  const { x, z, kind, vertices } = pair;
  const [v0, v1, v2 = -1, v3 = -1] = Array.from(vertices);
  CLOSEST_POINTS[kind](x, v0, v1, v2, v3);
  const before: Vector = [closest.x, closest.y, closest.z];
  const distance = Math.sqrt(closest.squared);
  CLOSEST_POINTS[kind](z, v0, v1, v2, v3);
  const after: Vector = [closest.x, closest.y, closest.z];
  const least = Math.min(distance, floor);
  const near = KEPT_ON_THE_WAY * floor;
  const needed = distance < near ? KEPT_ON_THE_WAY * distance : near;
  let best = 0;
  for (const n of directions(pair, before, after)) {
    const from = gapAlong(n, x, kind, vertices);
    if (!(from > 0 && from >= needed)) continue;
    const to = gapAlong(n, z, kind, vertices);
    if (to >= least) return 1;
    const kept = Math.max(Math.min(from, floor), LEFT_OF_GAP * from);
    if (to < kept) best = Math.max(best, (from - kept) / (from - to));
  }
  return Math.min(best, 1 - LEFT_OF_GAP);
}

/** min_a n·p − max_b n·p − 2e, n a unit vector; not above 0 if nothing is certain. */
export function gapAlong(n: Vector, p: Float32Array, kind: number, vertices: ArrayLike<number>): number {
  const sideA = SIDE_A[kind];
  const o = 3 * vertices[0];
  let lo = 0;
  let hi = Number.NEGATIVE_INFINITY;
  let spread = 0;
  for (let s = 1; s < CORNERS[kind]; s++) {
    const k = 3 * vertices[s];
    const ax = n[0] * (p[k] - p[o]);
    const ay = n[1] * (p[k + 1] - p[o + 1]);
    const az = n[2] * (p[k + 2] - p[o + 2]);
    const height = ax + ay + az;
    spread = Math.max(spread, Math.abs(ax) + Math.abs(ay) + Math.abs(az));
    if (s < sideA) lo = Math.min(lo, height);
    else hi = Math.max(hi, height);
  }
  return lo - hi - 2 * DOUBLE_ERROR * spread;
}

/**
 * Directions that may separate a pair, likely ones first: that of the closest points at x and at z, the same without
 * the component along the relative motion, which does not obstruct it, their mean, and the normals of the plane that
 * the elements span.
 */
function* directions(pair: MovingPair, before: Vector, after: Vector): Generator<Vector> {
  const first = unit(before);
  if (first) yield first;
  const along = unit(relativeMotion(pair));
  const across = along && first && unit(withoutPartAlong(first, along));
  if (across) yield across;
  const last = unit(after);
  if (last) yield last;
  const acrossLast = along && last && unit(withoutPartAlong(last, along));
  if (acrossLast) yield acrossLast;
  const mean = first && last && unit([first[0] + last[0], first[1] + last[1], first[2] + last[2]]);
  if (mean) yield mean;
  for (const positions of [pair.x, pair.z]) {
    const normal = planeNormal(pair, positions);
    if (!normal) continue;
    yield normal;
    yield [-normal[0], -normal[1], -normal[2]];
  }
}

/** Returns the longest difference of the motions of a corner of side a and one of side b. */
function relativeMotion({ x, z, kind, vertices }: MovingPair): Vector {
  let longest: Vector = [0, 0, 0];
  for (let a = 0; a < SIDE_A[kind]; a++) {
    for (let b = SIDE_A[kind]; b < CORNERS[kind]; b++) {
      const [i, j] = [3 * vertices[a], 3 * vertices[b]];
      const motion = (c: number) => z[i + c] - x[i + c] - (z[j + c] - x[j + c]);
      const difference: Vector = [motion(0), motion(1), motion(2)];
      if (lengthOf(difference) > lengthOf(longest)) longest = difference;
    }
  }
  return longest;
}

function planeNormal({ kind, vertices }: MovingPair, p: Float32Array): Vector | undefined {
  const slots = PAIR_KINDS[kind].plane?.slots;
  if (!slots) return undefined;
  const [a, b, c, d] = slots.map((slot) => 3 * vertices[slot]);
  const u = unit([p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]]);
  const v = unit([p[d] - p[c], p[d + 1] - p[c + 1], p[d + 2] - p[c + 2]]);
  if (!u || !v) return undefined;
  return unit([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]);
}

function withoutPartAlong(n: Vector, along: Vector): Vector {
  const part = n[0] * along[0] + n[1] * along[1] + n[2] * along[2];
  return [n[0] - part * along[0], n[1] - part * along[1], n[2] - part * along[2]];
}

const lengthOf = ([x, y, z]: Vector): number => Math.hypot(x, y, z);

function unit(vector: Vector): Vector | undefined {
  const length = lengthOf(vector);
  // Below this the direction is rounding, and any direction is as good.
  return length > Number.MIN_VALUE / DOUBLE_ERROR
    ? [vector[0] / length, vector[1] / length, vector[2] / length]
    : undefined;
}
