import type { ForwardRule } from '../../contract/parameters.js';
import { team } from '../../threads/here.js';
import {
  BOUND,
  BOUND_CHUNK,
  type BoundArrays,
  FORWARD_RULES,
  indexOfRule,
  marginToSkip,
  mergeSlots,
  PASS,
} from './bound.js';
import { SEPARATION_ERROR } from './box-separation.js';
import { boxBound, isInBox } from './boxes.js';
import { CHECK, type CheckArrays, NO_PAIR } from './check.js';
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
  /** current step, with which the geometry of a current pair is stamped */
  readonly step: number;
  readonly rule: ForwardRule;
  readonly gamma: number;
  readonly floor: number;
  /** a gap that this step leaves of larger ones, instead of the floor; absent = none */
  readonly keptGap?: number | undefined;
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

/** Nanoseconds per pair, on one thread. */
const BOUND_COST = 80;
const CHECK_COST = 20;

/**
 * Number of pairs per vertex above which they are bounded in two passes. Between layers there are about 37. Lists get
 * longer if boxes are larger than the motions that contacts grant; most of their pairs then stay apart under the α that
 * the near pairs leave.
 */
const LONG_LIST = 48;

/**
 * The forward step (Eqs. 14–17; docs/method.md, S2, S4 and S5): how far each vertex may follow its motion m_i = y_i −
 * x_i without continuous collision detection.
 *
 * Planar rule, per pair with certified normal n, heights h, gap g = lo − hi > 2e and shares s_a + s_b = 1:
 *
 *   side a keeps h ≥ lo − γ s_a (g − floor),   side b keeps h ≤ hi + γ s_b (g − floor)
 *
 * A fixed plane separates the two sides at both ends of the linear piece. Half-spaces are convex, so it separates them
 * on the whole piece, whatever α the other vertices get. Isotropic rule (Eqs. 15–17): α_i |m_i| ≤ D_i = γ (g −
 * floor)/2.
 *
 * The numbers in memory must satisfy this, hence three passes: (1) bound α; (2) write fl(x + αm); (3) read back and
 * check against the half-spaces
 *
 *   side a: h' ≥ lo − ext_a + e',   side b: h' ≤ hi + ext_b − e',
 *   ext_side = s_side·max(0, g − floor) + max(0, min(g, floor) − floor/2)/2
 *
 * with heights from the stored normal and the origin of x. The sum of both ext is at most g − floor/2 (0 when g is
 * below floor/2), so the two half-spaces are disjoint whatever the rounding in (1) and (2).
 *
 * A vertex that fails returns to x_i and is not tested again, and neither is one that has not moved: its height, of side
 * a, is lo or more, up to the error of a height. A vertex of side b that has passed keeps h' ≤ hi + ext_b − e', and hi +
 * ext_b is below lo by floor/2 at least, or by g > 2e if g < floor/2. e is at least twice the error of a height
 * (certificate.ts), so the e' that the vertex of side b keeps covers the errors of both. So reverting a vertex never
 * breaks another pair: no cascade. What covers the rounding of the limits: docs/guarantee.md, The derivation.
 */
export class Forward {
  /** float32[V] α of the last step, 0 if reverted or frozen, 1 where the vertex reached y */
  readonly alpha: Float32Array;
  /** float32[V] α_box (guard BOXES) or the cap of the radius (guard RADIUS) */
  readonly alphaGuard: Float32Array;
  /** int32[V] the pair that bounded the vertex last, −1 = none */
  readonly limiter: Int32Array;
  /** revision of the P that `limiter` refers to; 0 = there has been no step, or the last one was abandoned */
  limitedIn = 0;
  /** pairs without a certificate: their vertices were frozen */
  touching = 0;
  /** largest |x' − x| of the step, rounded up */
  largestMove = 0;

  /** float32[V] and int32[V] α and the limiting pairs with which the second pass begins */
  readonly #most: Float32Array;
  readonly #limitedBy: Int32Array;
  readonly #next: Float32Array;
  /** float32[3·V] fl(y − x) */
  readonly #motion: Float32Array;
  // Arrays of the stages, described there:
  readonly #alphas: Float32Array;
  readonly #limiters: Int32Array;
  readonly #runs: Int32Array;
  readonly #failed: Int32Array;
  readonly #failures: Int32Array;
  #bounded: Uint32Array = new Uint32Array(0);
  #limits: Float32Array = new Float32Array(0);
  #counts: Int32Array = new Int32Array(0);
  readonly #slots = team.slots;
  #run = 0;
  /** a pair that stays farther apart than this is skipped; infinity = none is */
  #skipMargin = 0;
  readonly #scratch: Scratch;

  constructor(vertexCount: number, scratch = new Scratch()) {
    this.#alphas = scratch.float32('alpha', this.#slots * vertexCount);
    this.#limiters = scratch.int32('limiter', this.#slots * vertexCount);
    this.#runs = scratch.int32('runs of the slots', this.#slots).fill(0);
    this.alpha = this.#alphas.subarray(0, vertexCount).fill(0);
    this.limiter = this.#limiters.subarray(0, vertexCount).fill(-1);
    this.alphaGuard = scratch.float32('alpha of the guard', vertexCount).fill(0);
    this.#most = scratch.float32('alpha before the pass', vertexCount);
    this.#limitedBy = scratch.int32('limiter before the pass', vertexCount);
    this.#failed = scratch.int32('violated pairs', vertexCount);
    this.#failures = scratch.int32('violations', 1);
    this.#next = scratch.float32('next', 3 * vertexCount);
    this.#motion = scratch.float32('motions', 3 * vertexCount);
    this.#scratch = scratch;
  }

  advance(input: ForwardInput): void {
    this.limitedIn = 0;
    this.#guard(input);
    this.#bound(input);
    input.limitFurther?.(this.alpha);
    this.#write(input);
    this.#check(input);
    this.#commit(input);
    this.limitedIn = input.pairs.revision;
  }

  /** Computes the bound of α that pairs outside P require: the trust box, or the radius in which P is complete. */
  #guard({ x, y, moving, box, radius, gamma, floor, delta }: ForwardInput): void {
    const { alpha, alphaGuard, limiter } = this;
    const motion = this.#motion;
    limiter.fill(-1);
    // Undetected pairs are at least D apart; two vertices that move by γ(D − floor)/2 each leave them at least floor
    // apart.
    const cap = f(0.5 * gamma * Math.max(0, radius - floor));
    let farthest = 0;
    let farthestAtRest = 0;
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
      } else for (let c = 3 * i; c < 3 * i + 3; c++) farthestAtRest = Math.max(farthestAtRest, Math.abs(x[c]));
      for (let c = 3 * i; c < 3 * i + 3; c++) motion[c] = y[c] - x[c];
      alpha[i] = a;
      alphaGuard[i] = a;
    }
    // The rounding of heights in double must stay far below the margin; vertices at rest may lie anywhere (resting.ts).
    const isCertain = SEPARATION_ERROR * Math.max(farthest, farthestAtRest) < delta / 8;
    this.#skipMargin = isCertain ? marginToSkip(delta, farthest) : Number.POSITIVE_INFINITY;
  }

  #bound(input: ForwardInput): void {
    const { x, y, moving, pairs, active, activeCount, step, rule, gamma, floor, keptGap = 0, pulse } = input;
    this.#reserve(activeCount);
    const { kind, vertex, normal, delta, stamp, weight, distance, gap, error } = pairs;
    const arrays = {
      ...{ kind, vertex, normal, delta, stamp, weight, distance, gap, error },
      ...{ x, y, motion: this.#motion, active, moving },
      ...{ alphaGuard: this.alphaGuard, alphas: this.#alphas, limiters: this.#limiters, runs: this.#runs },
      ...{ bounded: this.#bounded, limits: this.#limits, counts: this.#counts, limitedBy: this.#limitedBy },
    };
    const numbers = {
      step,
      rule: indexOfRule(rule),
      gamma,
      floor,
      keptGap: Math.max(floor, keptGap),
      skipMargin: this.#skipMargin,
    };
    const run = (pass: (typeof PASS)[keyof typeof PASS], most: Float32Array): void => {
      const inPass: BoundArrays = { ...arrays, most };
      const id = ++this.#run;
      const count = { count: activeCount, chunk: BOUND_CHUNK };
      team.run({
        stage: BOUND,
        arrays: inPass,
        numbers: { ...numbers, pass, run: id },
        ...count,
        cost: BOUND_COST,
        pulse,
      });
      mergeSlots(inPass, id, this.#slots);
    };
    this.#limitedBy.fill(-1);
    if (FORWARD_RULES[rule].isAlongNormal && activeCount > LONG_LIST * moving.length) {
      // The pairs that the backward step has measured are near, and the α that they leave lets most others be skipped.
      run(PASS.CURRENT, this.alphaGuard);
      this.#most.set(this.alpha);
      this.#limitedBy.set(this.limiter);
      run(PASS.OTHERS, this.#most);
    } else run(PASS.ALL, this.alphaGuard);
    this.touching = 0;
    for (let c = 0; c * BOUND_CHUNK < activeCount; c++) this.touching += this.#counts[2 * c + 1];
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

  /** Compares the written positions with the half-spaces, and reverts every vertex that violates one. */
  #check({ x, pairs, moving, activeCount }: ForwardInput): void {
    const { kind, vertex, normal } = pairs;
    const { alpha, limiter } = this;
    const [failed, failures] = [this.#failed.fill(NO_PAIR), this.#failures.fill(0)];
    const arrays: CheckArrays = {
      ...{ kind, vertex, normal, x, moving, next: this.#next, alpha, failed, failures },
      ...{ bounded: this.#bounded, limits: this.#limits, counts: this.#counts },
    };
    team.run({ stage: CHECK, arrays, numbers: {}, count: activeCount, chunk: BOUND_CHUNK, cost: CHECK_COST });
    if (failures[0] === 0) return;
    for (let v = 0; v < failed.length; v++) {
      if (failed[v] === NO_PAIR) continue;
      this.#revert(v, x);
      limiter[v] = failed[v];
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
    this.#counts = this.#scratch.int32('bounded by chunk', 2 * Math.ceil(count / BOUND_CHUNK));
  }
}
