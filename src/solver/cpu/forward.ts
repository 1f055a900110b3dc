import type { ForwardRule } from '../../contract/parameters.js';
import { UNIT_ROUNDOFF } from '../constants.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import { boxBound, isInBox } from './boxes.js';
import { corner, heights, measureAlongNormal, measureCorner, measurePair } from './certificate.js';
import { distanceAt, ROUND_UP } from './motion.js';
import type { PairSet } from './pair-set.js';
import { Scratch } from './workspace.js';

const f = Math.fround;

/** One forward step; lengths in engine units. */
export interface ForwardInput {
  /** float32[3·V] current state; overwritten by the committed one */
  readonly x: Float32Array;
  /** float32[3·V] the backward step's target */
  readonly y: Float32Array;
  readonly pairs: PairSet;
  /** pairs with a moving vertex */
  readonly active: Uint32Array;
  readonly activeCount: number;
  /** uint8[V] 1 where y ≠ x */
  readonly moving: Uint8Array;
  /** current step, to tell whether a pair's geometry is current */
  readonly step: number;
  readonly rule: ForwardRule;
  readonly gamma: number;
  readonly floor: number;
  /** smallest δ of the mesh: a pair that stays this far apart needs no bound */
  readonly delta: number;
  /** float32[6·V] trust boxes, or undefined under the guard RADIUS */
  readonly box: Float32Array | undefined;
  /** guard RADIUS: D(l), the radius in which P is complete */
  readonly radius: number;
  /** called at short intervals before anything moves; may throw */
  readonly pulse?: (() => void) | undefined;
  /** may lower α once every pair has bounded it; must not raise it */
  readonly limitFurther?: ((alpha: Float32Array) => void) | undefined;
}

/**
 * Error of two written vertices along a unit normal, over the largest coordinate: 2·√3·(1 + 2) u, rounded up. With the
 * motion m = y − x, writing fl(x + αm) errs by u of x' and by 2u of αm.
 */
const WRITE_ERROR = 12 * UNIT_ROUNDOFF;

/** Pairs between two pulses: some ten milliseconds when all of them are measured for the first time. */
const PAIRS_PER_PULSE = 16_384;

/**
 * The forward step (Eqs. 14–17; docs/method.md, S2, S4 and S5): how far each vertex may follow its motion m_i = y_i − x_i
 * without continuous collision detection.
 *
 * Planar rule, per pair with certified normal n, heights h, gap g = lo − hi > 2e and shares s_a + s_b = 1:
 *
 *   side a keeps h ≥ lo − γ s_a (g − floor),   side b keeps h ≤ hi + γ s_b (g − floor)
 *
 * A fixed plane separates the two sides at both ends of the linear piece. Half-spaces are convex, so it separates them on
 * the whole piece, whatever α the other vertices get. Isotropic rule (Eqs. 15–17): α_i |m_i| ≤ D_i = γ (g − floor)/2.
 *
 * The numbers in memory decide, hence three passes: (1) bound α; (2) write fl(x + αm); (3) read back and check against the
 * half-spaces
 *
 *   side a: h' ≥ lo − ext_a + e',   side b: h' ≤ hi + ext_b − e',
 *   ext_side = s_side·max(0, g − floor) + max(0, min(g, floor) − floor/2)/2
 *
 * with heights from the stored normal and the origin of x. The sum of both ext is at most g − floor/2 (0 when g is below
 * floor/2), so the two half-spaces are disjoint whatever rounding did in (1) and (2). A vertex that fails returns to x_i;
 * x_i satisfies the condition of every pair up to e, and g > 2e, so reverting never breaks another pair: no cascade.
 */
export class Forward {
  /** float32[V] α of the last step, 0 where reverted or frozen, 1 where the vertex reached y */
  readonly alpha: Float32Array;
  /** float32[V] α_box (guard BOXES) or the cap of the radius (guard RADIUS) */
  readonly alphaGuard: Float32Array;
  /** int32[V] the pair that bounded the vertex last, −1 = none */
  readonly limiter: Int32Array;
  /** pairs without a certificate: their vertices were frozen */
  touching = 0;
  /** largest |x' − x| of the step, rounded up */
  largestMove = 0;

  readonly #next: Float32Array;
  #bounded = new Uint32Array(0);
  /** float32[3·n] per bounded pair: lo − ext_a, hi + ext_b, e */
  #limits = new Float32Array(0);
  #boundedCount = 0;
  /** a pair that stays further apart than this is skipped */
  #skipMargin = 0;
  readonly #scratch: Scratch;

  constructor(vertexCount: number, scratch = new Scratch()) {
    this.alpha = scratch.float32('alpha', vertexCount).fill(0);
    this.alphaGuard = scratch.float32('alpha of the guard', vertexCount).fill(0);
    this.limiter = scratch.int32('limiter', vertexCount).fill(-1);
    this.#next = scratch.float32('next', 3 * vertexCount);
    this.#scratch = scratch;
  }

  advance(input: ForwardInput): void {
    this.#guard(input);
    this.#bound(input);
    input.limitFurther?.(this.alpha);
    this.#write(input);
    this.#check(input);
    this.#commit(input);
  }

  /** The bound of α that pairs outside P require: the trust box, or the radius in which P is complete. */
  #guard({ x, y, moving, box, radius, gamma, floor, delta }: ForwardInput): void {
    const { alpha, alphaGuard, limiter } = this;
    limiter.fill(-1);
    // Undetected pairs are at least D apart; two vertices that move by γ(D − floor)/2 each leave them at least floor apart.
    const cap = f(0.5 * gamma * Math.max(0, radius - floor));
    let farthest = 0;
    for (let i = 0; i < moving.length; i++) {
      let a = 1;
      if (moving[i]) {
        if (box) a = boxBound(box, i, x, y);
        else {
          const travel = distanceAt(x, y, 3 * i);
          if (travel > cap) a = f(cap / travel);
        }
        for (let c = 3 * i; c < 3 * i + 3; c++)
          farthest = Math.max(farthest, Math.abs(x[c]) + a * Math.abs(y[c] - x[c]));
      }
      alpha[i] = a;
      alphaGuard[i] = a;
    }
    this.#skipMargin = marginToSkip(delta, farthest);
  }

  #bound(input: ForwardInput): void {
    const { x, pairs, active, activeCount, step, rule, floor, pulse } = input;
    const { bound, isAlongNormal } = FORWARD_RULES[rule];
    this.touching = 0;
    this.#boundedCount = 0;
    this.#reserve(activeCount);
    for (let n = 0; n < activeCount; n++) {
      if (n % PAIRS_PER_PULSE === 0) pulse?.();
      const p = active[n];
      if (pairs.stamp[p] !== step) {
        if (isAlongNormal && this.#staysApart(input, p)) continue;
        measurePair(pairs, p, x, step);
      } else measureAlongNormal(pairs, p, x);
      const gap = pairs.gap[p];
      const error = pairs.error[p];
      if (!(gap > 2 * error)) {
        this.#freeze(input, p);
        continue;
      }
      const room = f(Math.max(0, gap - floor));
      this.#storeLimits(p, floor, gap, room, bound(this, input, p, room));
    }
  }

  /**
   * Whether a pair can be skipped (docs/method.md, S11). If along its last normal min_a h − max_b h stays above δ for every α
   * in [0, α_guard], the pair can neither bound nor violate anything. Heights are linear in α, so both ends suffice. A
   * skipped pair is not checked either, and x' is rounded at its own coordinates, which may lie far beyond those that the
   * floor covers: δ/2 and the rounding of two vertices there must remain. Within nine times the coordinates that the floor
   * covers this is less than δ.
   */
  #staysApart({ x, y, pairs }: ForwardInput, p: number): boolean {
    const margin = this.#skipMargin;
    const { vertex, normal } = pairs;
    const kind = pairs.kind[p];
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
    const to0 = heightAfter(0, this.alphaGuard[vertex[q]], motion0);
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
      const to = heightAfter(from, this.alphaGuard[v], motion);
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

  /** A pair without a certificate stops its vertices (docs/method.md, S2). */
  #freeze({ pairs }: ForwardInput, p: number): void {
    this.touching++;
    for (let s = 4 * p; s < 4 * p + CORNERS[pairs.kind[p]]; s++) {
      this.alpha[pairs.vertex[s]] = 0;
      this.limiter[pairs.vertex[s]] = p;
    }
  }

  /** Stores the half-spaces that the check enforces. */
  #storeLimits(p: number, floor: number, gap: number, room: number, share: number): void {
    const n = this.#boundedCount++;
    this.#bounded[n] = p;
    const reserve = f(Math.max(0, Math.min(gap, floor) - 0.5 * floor) / 2);
    this.#limits[3 * n] = f(heights.lo - f(f(share * room) + reserve));
    this.#limits[3 * n + 1] = f(heights.hi + f(f(f(1 - share) * room) + reserve));
    this.#limits[3 * n + 2] = heights.error;
  }

  /** x' = fl(x + αm); exact copies at α = 0 and α = 1 (docs/method.md, S8). */
  #write({ x, y, moving, box }: ForwardInput): void {
    const { alpha } = this;
    const next = this.#next;
    for (let i = 0, k = 0; i < moving.length; i++, k += 3) {
      if (!moving[i]) continue;
      const a = alpha[i];
      for (let c = k; c < k + 3; c++) next[c] = a === 0 ? x[c] : a === 1 ? y[c] : f(x[c] + f(a * f(y[c] - x[c])));
      if (box && !isInBox(box, i, next)) this.#revert(i, x);
    }
  }

  /** Compares what was written with the half-spaces, and reverts every vertex that violates one. */
  #check({ x, pairs, moving }: ForwardInput): void {
    const next = this.#next;
    const { vertex } = pairs;
    for (let n = 0; n < this.#boundedCount; n++) {
      const p = this.#bounded[n];
      const q = 4 * p;
      const kind = pairs.kind[p];
      const sideA = SIDE_A[kind];
      const nx = pairs.normal[3 * p];
      const ny = pairs.normal[3 * p + 1];
      const nz = pairs.normal[3 * p + 2];
      const lowest = this.#limits[3 * n];
      const highest = this.#limits[3 * n + 1];
      const error = this.#limits[3 * n + 2];
      const o = 3 * vertex[q];
      for (let s = 0; s < CORNERS[kind]; s++) {
        const v = vertex[q + s];
        if (!moving[v] || this.alpha[v] === 0) continue;
        const k = 3 * v;
        measureCorner(next, k, x, o, nx, ny, nz);
        const bound = Math.max(error, corner.error);
        const isKept = s < sideA ? isAbove(corner.height, lowest, bound) : isBelow(corner.height, highest, bound);
        if (!isKept) {
          this.#revert(v, x);
          this.limiter[v] = p;
        }
      }
    }
  }

  #revert(i: number, x: Float32Array): void {
    this.alpha[i] = 0;
    for (let c = 3 * i; c < 3 * i + 3; c++) this.#next[c] = x[c];
  }

  #commit({ x, moving }: ForwardInput): void {
    const next = this.#next;
    let largest = 0;
    for (let i = 0, k = 0; i < moving.length; i++, k += 3) {
      if (!moving[i] || this.alpha[i] === 0) continue;
      const move = distanceAt(x, next, k);
      if (move > largest) largest = move;
      for (let c = k; c < k + 3; c++) x[c] = next[c];
    }
    this.largestMove = largest * ROUND_UP;
  }

  #reserve(count: number): void {
    if (this.#bounded.length >= count) return;
    this.#bounded = this.#scratch.uint32('bounded', count);
    this.#limits = this.#scratch.float32('limits', 3 * count);
  }
}

/** The arrays of {@link Forward} that a rule reads and lowers. */
type Bounds = Pick<Forward, 'alpha' | 'alphaGuard' | 'limiter'>;

interface Rule {
  /** Lowers α of the vertices of pair p. @param room max(0, g − floor) @returns s_a */
  readonly bound: (bounds: Bounds, input: ForwardInput, p: number, room: number) => number;
  /** Whether the rule bounds only the component along the normal: then far pairs can be skipped, and stuck vertices slide. */
  readonly isAlongNormal: boolean;
}

/** The forward rules. A new rule is one entry and its kernels' function. */
export const FORWARD_RULES: Readonly<Record<ForwardRule, Rule>> = {
  PLANAR: { bound: boundPlanar, isAlongNormal: true },
  ISOTROPIC: { bound: boundIsotropic, isAlongNormal: false },
};

const approaches = new Float32Array(4);

/** The planar rule; reads `heights` of the pair. */
function boundPlanar(bounds: Bounds, { x, y, pairs, gamma }: ForwardInput, p: number, room: number): number {
  const { alpha, alphaGuard, limiter } = bounds;
  const { vertex } = pairs;
  const kind = pairs.kind[p];
  const sideA = SIDE_A[kind];
  const corners = CORNERS[kind];
  const nx = pairs.normal[3 * p];
  const ny = pairs.normal[3 * p + 1];
  const nz = pairs.normal[3 * p + 2];
  const q = 4 * p;
  const { lo, hi, h1, h2, h3 } = heights;
  let ua = 0;
  let ub = 0;
  for (let s = 0; s < corners; s++) {
    const v = vertex[q + s];
    const k = 3 * v;
    const along = f(f(f(nx * f(y[k] - x[k])) + f(ny * f(y[k + 1] - x[k + 1]))) + f(nz * f(y[k + 2] - x[k + 2])));
    const approach = s < sideA ? -along : along;
    approaches[s] = approach;
    const guarded = f(approach * alphaGuard[v]);
    if (s < sideA) ua = Math.max(ua, guarded);
    else ub = Math.max(ub, guarded);
  }
  const share = ua + ub > 0 ? f(ua / f(ua + ub)) : 0.5;
  const budgetA = budgetOf(gamma, share, room);
  const budgetB = budgetOf(gamma, f(1 - share), room);
  for (let s = 0; s < corners; s++) {
    const approach = approaches[s];
    if (!(approach > 0)) continue;
    const height = s === 0 ? 0 : s === 1 ? h1 : s === 2 ? h2 : h3;
    const slack = s < sideA ? f(height - lo) : f(hi - height);
    const budget = f((s < sideA ? budgetA : budgetB) + f(gamma * slack));
    if (budget >= approach) continue;
    const v = vertex[q + s];
    const bound = stepBound(budget, approach);
    if (bound < alpha[v]) {
      alpha[v] = bound;
      limiter[v] = p;
    }
  }
  return share;
}

/** The isotropic rule, Eqs. 15–17 with the floor. */
function boundIsotropic(bounds: Bounds, { x, y, pairs, gamma, moving }: ForwardInput, p: number, room: number): number {
  const { alpha, limiter } = bounds;
  for (let s = 4 * p; s < 4 * p + CORNERS[pairs.kind[p]]; s++) {
    const v = pairs.vertex[s];
    if (!moving[v]) continue;
    const travel = distanceAt(x, y, 3 * v);
    const bound = f(f(0.5 * gamma * room) / travel);
    if (bound < alpha[v]) {
      alpha[v] = bound;
      limiter[v] = p;
    }
  }
  return 0.5;
}

/** How far apart a pair must stay to be skipped: δ, or δ/2 and the rounding of two vertices at the farthest coordinate. */
function marginToSkip(delta: number, farthest: number): number {
  return Math.max(delta, delta / 2 + WRITE_ERROR * farthest);
}

/** Height of a vertex after the share α of its motion. */
function heightAfter(from: number, alpha: number, motion: number): number {
  return from + alpha * motion;
}

/** What one side of a pair may use up of the gap beyond the floor. */
function budgetOf(gamma: number, share: number, room: number): number {
  return f(f(gamma * share) * room);
}

/** α at which a vertex that approaches has used up its budget. */
function stepBound(budget: number, approach: number): number {
  return budget > 0 ? f(budget / approach) : 0;
}

/** Whether a height with an error of at most `error` lies certainly at or above `lowest`. */
function isAbove(height: number, lowest: number, error: number): boolean {
  return height >= f(lowest + error);
}

/** Whether a height with an error of at most `error` lies certainly at or below `highest`. */
function isBelow(height: number, highest: number, error: number): boolean {
  return height <= f(highest - error);
}
