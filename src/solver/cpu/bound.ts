import type { ForwardRule } from '../../contract/parameters.js';
import { defineStage } from '../../threads/stage.js';
import { UNIT_ROUNDOFF } from '../constants.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import { heights, measureAlongNormal, measurePair } from './certificate.js';
import { distanceAt } from './motion.js';
import type { PairArrays } from './pair-set.js';

const f = Math.fround;

/** Pairs of a chunk; the lists of {@link BOUND} have gaps between chunks. */
export const BOUND_CHUNK = 2048;

/** What every thread reads while it bounds, and what it writes. */
export interface BoundArrays extends PairArrays {
  /** float32[3·V] current state and the target of the backward step */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** float32[3·V] fl(y − x) */
  readonly motion: Float32Array;
  /** uint32[N] pairs with a moving vertex, ascending */
  readonly active: Uint32Array;
  /** uint8[V] 1 where y ≠ x */
  readonly moving: Uint8Array;
  /** float32[V] bound of α that holds for pairs outside P */
  readonly alphaGuard: Float32Array;
  /**
   * float32[V] α, and int32[V] the limiting pairs, at the beginning of the pass; slots after the first start from these
   */
  readonly most: Float32Array;
  readonly limitedBy: Int32Array;
  /** float32[slots·V] α as this slot has bounded it; {@link FROZEN} = a touching pair has the vertex */
  readonly alphas: Float32Array;
  /** int32[slots·V] the pair that this slot bounded it by, −1 = none */
  readonly limiters: Int32Array;
  /** int32[slots] last run that the slot took part in; slot 0 always does */
  readonly runs: Int32Array;
  /** uint32[N] bounded pairs of chunk c from c·BOUND_CHUNK on */
  readonly bounded: Uint32Array;
  /** float32[3·N] of each: lo − ext_a, hi + ext_b, e */
  readonly limits: Float32Array;
  /** int32[2·chunks] of each chunk: bounded pairs, touching pairs */
  readonly counts: Int32Array;
}

/**
 * Pairs of a pass: all, those whose geometry is current, and the others, whose lists follow those of the current ones.
 */
export const PASS = { ALL: 0, CURRENT: 1, OTHERS: 2 } as const;

export interface BoundNumbers {
  readonly step: number;
  readonly pass: (typeof PASS)[keyof typeof PASS];
  /** index into {@link RULES} */
  readonly rule: number;
  readonly gamma: number;
  readonly floor: number;
  /** the gap that a step leaves, at least the floor */
  readonly keptGap: number;
  /** a pair that stays farther apart than this is skipped */
  readonly skipMargin: number;
  /** identifies the run */
  readonly run: number;
}

/**
 * Error of two written vertices along a unit normal, over the largest coordinate: 2·√3·(1 + 2) u, rounded up. With the
 * motion m = y − x, writing fl(x + αm) errs by u of x' and by 2u of αm.
 */
export const WRITE_ERROR = 12 * UNIT_ROUNDOFF;

/** α of a frozen vertex until the slots are merged: below any bound. */
export const FROZEN = -1;

/**
 * Bounds α by every active pair (the first pass of the forward step, forward.ts).
 *
 * A thread reduces the α of its own slot. α of the step is the smallest over all slots, regardless of which thread took
 * which chunk: a minimum has no order. Among pairs with the same bound the first one is reported. A slot takes its
 * chunks in ascending order, so {@link mergeSlots} finds the same pair as one thread alone.
 */
export const BOUND = defineStage(import.meta.url, 'bound', boundPairs);

function boundPairs(arrays: BoundArrays, numbers: BoundNumbers, from: number, to: number, slot: number): void {
  const { active, most, limitedBy, alphas, limiters, runs, counts, bounded, stamp, gap, error } = arrays;
  const { step, pass, keptGap, run } = numbers;
  const base = slot * most.length;
  if (slot > 0 && runs[slot] !== run) {
    alphas.set(most, base);
    limiters.set(limitedBy, base);
    runs[slot] = run;
  }
  const { bound, isAlongNormal } = RULES[numbers.rule];
  const chunk = from / BOUND_CHUNK;
  let kept = pass === PASS.OTHERS ? from + counts[2 * chunk] : from;
  let touching = pass === PASS.OTHERS ? counts[2 * chunk + 1] : 0;
  for (let n = from; n < to; n++) {
    const p = active[n];
    if (pass !== PASS.ALL && (stamp[p] === step) !== (pass === PASS.CURRENT)) continue;
    if (stamp[p] !== step) {
      if (isAlongNormal && staysApart(arrays, p, numbers)) continue;
      measurePair(arrays, p, arrays.x, step);
    } else measureAlongNormal(arrays, p, arrays.x);
    if (!(gap[p] > 2 * error[p])) {
      freeze(arrays, p, base);
      touching++;
      continue;
    }
    allowance.room = f(Math.max(0, gap[p] - keptGap));
    bound(arrays, numbers, p, base);
    bounded[kept] = p;
    storeLimits(arrays, numbers, kept++, p);
  }
  counts[2 * chunk] = kept - from;
  counts[2 * chunk + 1] = touching;
}

/** Merges α and limiter of every slot into slot 0. @param slots number of slots that may have taken part */
export function mergeSlots({ alphaGuard, alphas, limiters, runs }: BoundArrays, run: number, slots: number): void {
  const vertices = alphaGuard.length;
  for (let slot = 1; slot < slots; slot++) {
    if (runs[slot] !== run) continue;
    const base = slot * vertices;
    for (let v = 0; v < vertices; v++) {
      const a = alphas[base + v];
      if (a > alphas[v]) continue;
      const p = limiters[base + v];
      // The last of touching pairs is reported, but the first of others.
      if (a < alphas[v] || (a === FROZEN ? p > limiters[v] : p < limiters[v])) limiters[v] = p;
      alphas[v] = a;
    }
  }
  for (let v = 0; v < vertices; v++) if (alphas[v] === FROZEN) alphas[v] = 0;
}

/**
 * Whether a pair can be skipped (docs/method.md, S11). If along its last normal min_a h − max_b h stays above δ for
 * every α up to that with which the pass begins, the pair can neither bound nor violate anything: α only falls from
 * there. Heights are linear in α, so both ends suffice. A skipped pair is not checked either, and x' is rounded at its
 * own coordinates, which may lie far beyond those that the floor covers: δ/2 and the rounding of two vertices there
 * must remain. Within nine times the coordinates that the floor covers this is less than δ. The heights themselves, in double,
 * err by less than δ/8, which is two floors; where they may err by more, nothing is skipped (forward.ts).
 */
function staysApart(arrays: BoundArrays, p: number, { skipMargin: margin }: BoundNumbers): boolean {
  const { x, y, vertex, normal, most } = arrays;
  const kind = arrays.kind[p];
  const nx = normal[3 * p];
  const ny = normal[3 * p + 1];
  const nz = normal[3 * p + 2];
  const q = 4 * p;
  const o = 3 * vertex[q];
  const ox = x[o];
  const oy = x[o + 1];
  const oz = x[o + 2];
  // The first corner is the origin of the heights, so only its motion counts.
  const motion0 = nx * (y[o] - ox) + ny * (y[o + 1] - oy) + nz * (y[o + 2] - oz);
  const to0 = heightAfter(0, most[vertex[q]], motion0);
  let lo = to0 < 0 ? to0 : 0;
  let hi = Number.NEGATIVE_INFINITY;
  const sideA = SIDE_A[kind];
  const corners = CORNERS[kind];
  for (let s = 1; s < corners; s++) {
    const v = vertex[q + s];
    const k = 3 * v;
    const px = x[k];
    const py = x[k + 1];
    const pz = x[k + 2];
    const from = nx * (px - ox) + ny * (py - oy) + nz * (pz - oz);
    const motion = nx * (y[k] - px) + ny * (y[k + 1] - py) + nz * (y[k + 2] - pz);
    const to = heightAfter(from, most[v], motion);
    if (s < sideA) {
      if (from < lo) lo = from;
      if (to < lo) lo = to;
    } else {
      if (from > hi) hi = from;
      if (to > hi) hi = to;
      // Further corners of side b only raise hi.
      if (!(lo - hi > margin)) return false;
    }
  }
  return true;
}

/** Stops the vertices of a pair without a certificate (docs/method.md, S2). */
function freeze({ kind, vertex, alphas, limiters }: BoundArrays, p: number, base: number): void {
  for (let s = 4 * p; s < 4 * p + CORNERS[kind[p]]; s++) {
    alphas[base + vertex[s]] = FROZEN;
    limiters[base + vertex[s]] = p;
  }
}

/**
 * The allowance of the current pair: max(0, g − keptGap), and s_a. Numbers passed from function to function would be
 * objects on the heap.
 */
const allowance = { room: 0.5, share: 0.5 };

/** Stores the half-spaces of pair p that the check enforces. */
function storeLimits({ limits, gap }: BoundArrays, { floor }: BoundNumbers, n: number, p: number): void {
  const { room, share } = allowance;
  const reserve = f(Math.max(0, Math.min(gap[p], floor) - 0.5 * floor) / 2);
  limits[3 * n] = f(heights.lo - f(f(share * room) + reserve));
  limits[3 * n + 1] = f(heights.hi + f(f(f(1 - share) * room) + reserve));
  limits[3 * n + 2] = heights.error;
}

interface Rule {
  /**
   * Lowers α of the vertices of pair p, which has this room in `allowance`, and sets s_a there.
   *
   * @param base of the slot
   */
  readonly bound: (arrays: BoundArrays, numbers: BoundNumbers, p: number, base: number) => void;
  /**
   * Whether the rule bounds only the component along the normal: then far pairs can be skipped, and stuck vertices
   * slide.
   */
  readonly isAlongNormal: boolean;
}

/** The forward rules. A new rule is one entry and its kernels' function. */
export const FORWARD_RULES: Readonly<Record<ForwardRule, Rule>> = {
  PLANAR: { bound: boundPlanar, isAlongNormal: true },
  ISOTROPIC: { bound: boundIsotropic, isAlongNormal: false },
};

/** The rules by their number in {@link BoundNumbers}. */
const RULES: readonly Rule[] = Object.values(FORWARD_RULES);

export function indexOfRule(rule: ForwardRule): number {
  return RULES.indexOf(FORWARD_RULES[rule]);
}

const approaches = new Float32Array(4);

/**
 * Applies the planar rule; reads `heights` of the pair. Corners are written out: this is the innermost loop of a step.
 */
function boundPlanar(arrays: BoundArrays, { gamma }: BoundNumbers, p: number, base: number): void {
  const { room } = allowance;
  const { motion: m, vertex, normal, alphas, alphaGuard, limiters } = arrays;
  const kind = arrays.kind[p];
  const sideA = SIDE_A[kind];
  const corners = CORNERS[kind];
  const nx = normal[3 * p];
  const ny = normal[3 * p + 1];
  const nz = normal[3 * p + 2];
  const q = 4 * p;
  // Corner 0 is on side a, 1 on either side, 2 and 3 on side b.
  let v = vertex[q];
  let k = 3 * v;
  let approach = -f(f(f(nx * m[k]) + f(ny * m[k + 1])) + f(nz * m[k + 2]));
  let guarded = f(approach * alphaGuard[v]);
  let ua = guarded > 0 ? guarded : 0;
  let ub = 0;
  approaches[0] = approach;
  v = vertex[q + 1];
  k = 3 * v;
  approach = f(f(f(nx * m[k]) + f(ny * m[k + 1])) + f(nz * m[k + 2]));
  if (sideA === 1) {
    guarded = f(approach * alphaGuard[v]);
    if (guarded > 0) ub = guarded;
  } else {
    approach = -approach;
    guarded = f(approach * alphaGuard[v]);
    if (guarded > ua) ua = guarded;
  }
  approaches[1] = approach;
  if (corners > 2) {
    v = vertex[q + 2];
    k = 3 * v;
    approach = f(f(f(nx * m[k]) + f(ny * m[k + 1])) + f(nz * m[k + 2]));
    guarded = f(approach * alphaGuard[v]);
    if (guarded > ub) ub = guarded;
    approaches[2] = approach;
    if (corners > 3) {
      v = vertex[q + 3];
      k = 3 * v;
      approach = f(f(f(nx * m[k]) + f(ny * m[k + 1])) + f(nz * m[k + 2]));
      guarded = f(approach * alphaGuard[v]);
      if (guarded > ub) ub = guarded;
      approaches[3] = approach;
    }
  }
  const { lo, hi, h1, h2, h3 } = heights;
  const share = ua + ub > 0 ? f(ua / f(ua + ub)) : 0.5;
  const budgetA = budgetOf(gamma, share, room);
  const budgetB = budgetOf(gamma, f(1 - share), room);
  for (let s = 0; s < corners; s++) {
    approach = approaches[s];
    if (!(approach > 0)) continue;
    const height = s === 0 ? 0 : s === 1 ? h1 : s === 2 ? h2 : h3;
    const slack = s < sideA ? f(height - lo) : f(hi - height);
    const budget = f((s < sideA ? budgetA : budgetB) + f(gamma * slack));
    if (budget >= approach) continue;
    v = vertex[q + s];
    const bound = stepBound(budget, approach);
    if (bound < alphas[base + v]) {
      alphas[base + v] = bound;
      limiters[base + v] = p;
    }
  }
  allowance.share = share;
}

/** Applies the isotropic rule, Eqs. 15–17 with the floor. */
function boundIsotropic(arrays: BoundArrays, { gamma }: BoundNumbers, p: number, base: number): void {
  const { room } = allowance;
  const { x, y, kind, vertex, moving, alphas, limiters } = arrays;
  for (let s = 4 * p; s < 4 * p + CORNERS[kind[p]]; s++) {
    const v = vertex[s];
    if (!moving[v]) continue;
    const travel = distanceAt(x, y, 3 * v);
    const bound = f(f(0.5 * gamma * room) / travel);
    if (bound < alphas[base + v]) {
      alphas[base + v] = bound;
      limiters[base + v] = p;
    }
  }
  allowance.share = 0.5;
}

/**
 * How far apart a pair must stay to be skipped: δ, or δ/2 and the rounding of two vertices at the farthest coordinate.
 */
export function marginToSkip(delta: number, farthest: number): number {
  return Math.max(delta, delta / 2 + WRITE_ERROR * farthest);
}

/** Height of a vertex after the share α of its motion. */
function heightAfter(from: number, alpha: number, motion: number): number {
  return from + alpha * motion;
}

/** Returns the part of the gap beyond the floor that one side of a pair may use up. */
function budgetOf(gamma: number, share: number, room: number): number {
  return f(f(gamma * share) * room);
}

/** α at which a vertex that approaches has used up its budget. */
function stepBound(budget: number, approach: number): number {
  return budget > 0 ? f(budget / approach) : 0;
}
