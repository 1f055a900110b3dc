import type { Positions } from '../contract/mesh.js';
import type { Quality } from '../contract/parameters.js';
import type { StretchedEdge } from '../contract/report.js';
import { edgesUnder } from '../mesh/limited-edges.js';
import { ownLength, referenceSquared } from '../mesh/rest-lengths.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { CoordinateFrame } from '../solver/frame.js';
import { LEAST_SQUARE, ratioOfLengths } from './length-ratios.js';

/**
 * Edges of an answer that are longer than their limit σ L*, where L* is the length in the target or at rest, in the
 * caller's own numbers.
 *
 * An engine keeps the limit in float32, so an edge that rests at it may be longer in these numbers by rounding alone. Let ε
 * be the coarser of float32's spacing at the engine coordinates of its ends and the answer's spacing at the caller's. Then
 * - L* of the engine differs by at most √3 ε from that of the caller: each end rounds by ε/2 per coordinate. That is σ
 *   √3 ε in the limit. A length at rest is rounded once, by 2⁻²⁴ of itself, which is far less;
 * - writing x + α m, |α m| ≤ |x'| + |x|, errs by ε/2 and 2 ε per coordinate: 5 √3 ε for both ends;
 * - sending rounds each end by ε/2 per coordinate again: √3 ε;
 * - the limit itself is a float32, and a step is held back to it within 2⁻²⁰.
 * Only what exceeds the sum counts as overlong.
 */

/** √3 ε, without σ times the same */
const ROUNDINGS = 6;

/** relative to the limit */
const LIMIT_ROUNDING = 2 ** -20;

/** Spacing of numbers just above 1, by scalar */
const SPACING = { float32: 2 ** -23, float64: 2 ** -52 } as const;

export interface OverlongEdges {
  readonly count: number;
  /** the one with the largest stretch; undefined = there is none */
  readonly worst: StretchedEdge | undefined;
  /** its index among the edges of its kind, contact or inner; 0 if there is none */
  readonly worstIndex: number;
}

/**
 * Counts the edges, contact and inner ones, that have a dynamic end and a length to compare with, and exceed their
 * limit by more than rounding.
 *
 * @param sigma σ; 0 = there is no limit
 * @param quality on which it depends whether strain limits replace those of edges (limited-edges.ts)
 * @param maxStretch of the answer by measureStretch: if it is within the limit, no edge needs a test
 */
export function findOverlongEdges(
  mesh: CollisionMesh,
  answer: Positions,
  target: Positions,
  {
    sigma,
    maxStretch,
    frame,
    quality,
  }: {
    readonly sigma: number;
    readonly maxStretch: number;
    readonly frame: CoordinateFrame;
    readonly quality: Quality;
  },
): OverlongEdges {
  if (sigma === 0 || maxStretch <= sigma) return { count: 0, worst: undefined, worstIndex: 0 };
  let count = 0;
  let worst: StretchedEdge | undefined;
  let worstIndex = 0;
  for (const { ends: edges, rest } of edgesUnder(quality, mesh)) {
    for (let e = 0; e < edges.length; e += 2) {
      const a = edges[e]!;
      const b = edges[e + 1]!;
      if (mesh.kinematic[a] && mesh.kinematic[b]) continue;
      const restSquared = referenceSquared(rest?.[e / 2], squaredLength(target, a, b, frame.scale), frame.scale);
      const squared = squaredLength(answer, a, b, frame.scale);
      const ofShort = restSquared < LEAST_SQUARE ? ratioOfLengths(answer, target, a, b, ownLength(rest?.[e / 2])) : 0;
      if (restSquared < LEAST_SQUARE ? ofShort <= sigma : squared <= sigma * sigma * restSquared) continue;
      const limit = sigma * Math.sqrt(restSquared);
      const rounding = (ROUNDINGS + sigma) * Math.sqrt(3) * spacingAt(a, b, answer, target, frame);
      if (Math.sqrt(squared) <= limit * (1 + LIMIT_ROUNDING) + rounding) continue;
      count++;
      // Computed like maxStretch, so that both are the same number.
      const stretch = restSquared < LEAST_SQUARE ? ofShort : Math.sqrt(squared / restSquared);
      if (worst && stretch <= worst.stretch) continue;
      worst = { a, b, stretch };
      worstIndex = e / 2;
    }
  }
  return { count, worst, worstIndex };
}

/** Engine units: scaling by a power of two is exact and keeps squares from under- and overflow. */
function squaredLength(x: Positions, a: number, b: number, scale: number): number {
  let squared = 0;
  for (let c = 0; c < 3; c++) squared += ((x[3 * a + c]! - x[3 * b + c]!) * scale) ** 2;
  return squared;
}

/** ε of an edge, engine units: an upper bound, because a spacing is at most this share of the number. */
function spacingAt(a: number, b: number, answer: Positions, target: Positions, frame: CoordinateFrame): number {
  let engine = 0;
  let caller = 0;
  for (const x of [answer, target]) {
    for (const v of [a, b]) {
      for (let c = 0; c < 3; c++) {
        const coordinate = x[3 * v + c]!;
        engine = Math.max(engine, Math.abs((coordinate - frame.origin[c]!) * frame.scale));
        caller = Math.max(caller, Math.abs(coordinate * frame.scale));
      }
    }
  }
  const ofAnswer = SPACING[answer instanceof Float32Array ? 'float32' : 'float64'];
  return Math.max(SPACING.float32 * engine, ofAnswer * caller);
}
