import { FACE_SHARE, GRANTED_SHARE, KEPT } from '../constants.js';
import type { Settings } from '../settings.js';
import { distanceAt, isSameAt } from './motion.js';

const f = Math.fround;

/**
 * Trust boxes: one axis-aligned box per vertex, valid from one search to the next. As long as every vertex stays in its
 * box, every point of an element stays in the convex hull of its vertices' boxes, whatever the other vertices do and
 * for any number of steps; elements whose hulls (each grown by `growth`) were disjoint at the search cannot meet
 * (docs/method.md, S3). Min, max and compare are exact in float32, so this carries no rounding term.
 *
 * Under the guard RADIUS (Algorithm 1) the boxes are the points themselves, grown by Dmax / 2 for the search, and the
 * bound D on the motion since then keeps undetected pairs apart (forward.ts).
 */
export interface TrustBoxes {
  /** float32[6·V] lo xyz, hi xyz, without growth */
  readonly box: Float32Array;
  /** added on every side when hulls are compared; engine units */
  growth: number;
}

/**
 * B_i ← box(x_i, x_i + (y_i − x_i)·min(1, leap/|y_i − x_i|)) grown by ρ; the bare point for a kinematic vertex at its
 * target. Vertices marked KEPT keep their boxes, which remain valid. x_i lies inside under any rounding, because
 * min(x, e) − ρ ≤ x.
 *
 * @param leap longest motion that a box covers, engine units
 * @param reach ρ, engine units
 * @param mask uint8[V] PASSIVE | KEPT
 */
export function fillTrustBoxes(
  boxes: TrustBoxes,
  x: Float32Array,
  y: Float32Array,
  kinematic: Uint8Array,
  settings: Settings,
  leap: number,
  reach: number,
  mask: Uint8Array,
): void {
  const { box } = boxes;
  boxes.growth = settings.guard === 'RADIUS' ? f(settings.searchRadiusMax / 2) : f(settings.delta / 2);
  for (let i = 0, k = 0, q = 0; i < kinematic.length; i++, k += 3, q += 6) {
    if ((mask[i] & KEPT) !== 0) continue;
    const dx = f(y[k] - x[k]);
    const dy = f(y[k + 1] - x[k + 1]);
    const dz = f(y[k + 2] - x[k + 2]);
    const isStill = dx === 0 && dy === 0 && dz === 0;
    if (settings.guard === 'RADIUS' || (isStill && kinematic[i] !== 0)) {
      for (let c = 0; c < 3; c++) {
        box[q + c] = x[k + c];
        box[q + 3 + c] = x[k + c];
      }
      continue;
    }
    const travel = Math.sqrt(dx * dx + dy * dy + dz * dz);
    const t = travel > leap ? leap / travel : 1;
    boxAround(box, q, x[k], y[k], t, dx, reach);
    boxAround(box, q + 1, x[k + 1], y[k + 1], t, dy, reach);
    boxAround(box, q + 2, x[k + 2], y[k + 2], t, dz, reach);
  }
}

/**
 * B_i ← B_i ∩ box(x_i, y_i) grown by ρ. What was disjoint stays so, and x_i, which lies in both, stays inside.
 *
 * @param reach ρ, engine units
 */
export function shrinkTrustBoxes({ box }: TrustBoxes, x: Float32Array, y: Float32Array, reach: number): void {
  for (let k = 0, q = 0; k < x.length; k += 3, q += 6) {
    for (let c = 0; c < 3; c++) {
      box[q + c] = Math.max(box[q + c], f(Math.min(x[k + c], y[k + c]) - reach));
      box[q + 3 + c] = Math.min(box[q + 3 + c], f(Math.max(x[k + c], y[k + c]) + reach));
    }
  }
}

function boxAround(box: Float32Array, q: number, x: number, y: number, t: number, d: number, reach: number): void {
  const end = t === 1 ? y : f(x + f(t * d));
  box[q] = f(Math.min(x, end) - reach);
  box[q + 3] = f(Math.max(x, end) + reach);
}

/** α_box: 1 iff y_i lies in B_i (exact compare), else the share of y_i − x_i that stays inside. */
export function boxBound(box: Float32Array, i: number, x: Float32Array, y: Float32Array): number {
  const k = 3 * i;
  const q = 6 * i;
  let alpha = 1;
  for (let c = 0; c < 3; c++) alpha = Math.min(alpha, axisBound(x[k + c], y[k + c], box[q + c], box[q + 3 + c]));
  return alpha;
}

/** The same of the motion on one axis. */
function axisBound(from: number, target: number, lo: number, hi: number): number {
  if (target > hi) return f(f(f(hi - from) / f(target - from)) * FACE_SHARE);
  if (target < lo) return f(f(f(lo - from) / f(target - from)) * FACE_SHARE);
  return 1;
}

/** α_box of the motion from x_i towards y_i as far as a leap goes: the motion for which a search would make a box. */
function leapBound(box: Float32Array, i: number, x: Float32Array, y: Float32Array, leap: number): number {
  const q = 6 * i;
  const travel = distanceAt(x, y, 3 * i);
  const t = travel > leap ? leap / travel : 1;
  let alpha = 1;
  for (let c = 0, k = 3 * i; c < 3; c++, k++) {
    const end = t === 1 ? y[k] : f(x[k] + f(t * f(y[k] - x[k])));
    alpha = Math.min(alpha, axisBound(x[k], end, box[q + c], box[q + 3 + c]));
  }
  return alpha;
}

/**
 * Marks, besides those marked before, the vertices whose boxes grant less than GRANTED_SHARE of their motion from x towards y,
 * as far as a leap goes.
 *
 * @returns whether there is one
 */
export function markCut(box: Float32Array, x: Float32Array, y: Float32Array, leap: number, cut: Uint8Array): boolean {
  let isAny = false;
  for (let i = 0; i < cut.length; i++) {
    if (!(leapBound(box, i, x, y, leap) < GRANTED_SHARE)) continue;
    cut[i] = 1;
    isAny = true;
  }
  return isAny;
}

/** Whether x_i lies in B_i, exactly. */
export function isInBox(box: Float32Array, i: number, x: Float32Array): boolean {
  const k = 3 * i;
  const q = 6 * i;
  return (
    x[k] >= box[q] &&
    x[k] <= box[q + 3] &&
    x[k + 1] >= box[q + 1] &&
    x[k + 1] <= box[q + 4] &&
    x[k + 2] >= box[q + 2] &&
    x[k + 2] <= box[q + 5]
  );
}

/** Whether B_i is a point. */
export function isPoint(box: Float32Array, i: number): boolean {
  const q = 6 * i;
  return box[q] === box[q + 3] && box[q + 1] === box[q + 4] && box[q + 2] === box[q + 5];
}

/**
 * Marks the vertices whose boxes do not serve a motion from x to y: x lies outside, or the box is a point and the
 * vertex must move.
 */
export function markUnserved(box: Float32Array, x: Float32Array, y: Float32Array, unserved: Uint8Array): void {
  for (let i = 0; i < unserved.length; i++) {
    unserved[i] = !isInBox(box, i, x) || (isPoint(box, i) && !isSameAt(x, y, 3 * i)) ? 1 : 0;
  }
}

/** Marks the vertices that are not in their boxes. @returns whether there is one */
export function markOutside(box: Float32Array, x: Float32Array, outside: Uint8Array): boolean {
  let isAny = false;
  for (let i = 0; i < outside.length; i++) {
    outside[i] = isInBox(box, i, x) ? 0 : 1;
    if (outside[i] === 1) isAny = true;
  }
  return isAny;
}
