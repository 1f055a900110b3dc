import { FREE_STEPS, LEAP_PROGRESS } from '../constants.js';
import { distanceAt } from './motion.js';
import type { ShapeLimits } from './shape-limits.js';
import type { Scratch } from './workspace.js';

/** The share of the way to y* that each vertex aims for in a step of the pull-back. */
export class Paces {
  readonly #inverseMasses: Float32Array;
  readonly #longest: number;
  #tau = 1;
  readonly #limits: ShapeLimits | undefined;
  /** uint8[V] steps since a row pushed the vertex, at most FREE_STEPS */
  readonly #unpushed: Uint8Array;
  /** float32[V] t of this step */
  readonly #shares: Float32Array;
  /** float32[3·V] y before the sweeps */
  readonly #rebuilt: Float32Array;
  /** float32[V] |y* − x| before the step for a vertex that its leap limits, 0 for the others */
  readonly #farAway: Float32Array;
  /** float32[V] |y* − x| before the step */
  readonly #distances: Float32Array;
  /** uint8[V] 1 if something kept the vertex far from its target when it was last asked (findKept) */
  readonly #isKept: Uint8Array;

  /** @param longest the longest motion of a step, engine units */
  constructor(inverseMasses: Float32Array, longest: number, limits: ShapeLimits | undefined, scratch: Scratch) {
    const vertices = inverseMasses.length;
    this.#inverseMasses = inverseMasses;
    this.#longest = longest;
    this.#limits = limits;
    this.#unpushed = scratch.uint8('steps without a push', vertices).fill(FREE_STEPS);
    this.#shares = scratch.float32('shares of the way', vertices);
    this.#rebuilt = scratch.float32('y before the rows', 3 * vertices);
    this.#farAway = scratch.float32('far away', vertices).fill(0);
    this.#distances = scratch.float32('distances before the step', vertices);
    this.#isKept = scratch.uint8('kept far away', vertices);
  }

  /** Forgets what rows have pushed: from another state on, they may push others. */
  forget(): void {
    this.#unpushed.fill(FREE_STEPS);
  }

  /** y ← x + t (y* − x), no longer than a leap. @param tau τ of the stage */
  rebuild(x: Float32Array, y: Float32Array, target: Float32Array, tau: number): void {
    this.#tau = tau;
    const limits = this.#limits;
    limits?.settlePaces((v) => this.#paceOf(x, target, v));
    for (let i = 0, k = 0; i < this.#unpushed.length; i++, k += 3) {
      const t = limits?.paceOf(i) ?? this.#paceOf(x, target, i);
      this.#shares[i] = t;
      for (let c = k; c < k + 3; c++) y[c] = t === 1 ? target[c] : x[c] + t * (target[c] - x[c]);
    }
    this.#rebuilt.set(y);
  }

  /** t of a vertex on its own. */
  #paceOf(x: Float32Array, target: Float32Array, i: number): number {
    const longest = this.#longest;
    const isFree = this.#inverseMasses[i] === 0 || this.#unpushed[i] === FREE_STEPS;
    const t = isFree ? 1 : this.#tau;
    const distance = distanceAt(x, target, 3 * i);
    const travel = t * distance;
    this.#distances[i] = distance;
    this.#farAway[i] = travel > longest ? travel / t : 0;
    return travel > longest ? t * (longest / travel) : t;
  }

  /** y ← x, after countUnpushed, for every dynamic vertex that a row has pushed lately. */
  holdPushed(x: Float32Array, y: Float32Array): void {
    for (let i = 0, k = 0; i < this.#unpushed.length; i++, k += 3) {
      const isHeld = this.#inverseMasses[i] > 0 && (this.#shares[i] === 0 || this.#unpushed[i] < FREE_STEPS);
      if (isHeld) y.set(x.subarray(k, k + 3), k);
    }
  }

  /**
   * Finds, after a step, the dynamic vertices that are farther than a leap from their targets and that have not come nearer by
   * enough of it (LEAP_PROGRESS). @returns whether there is one
   */
  findKept(x: Float32Array, target: Float32Array): boolean {
    const least = LEAP_PROGRESS * this.#longest;
    for (let i = 0; i < this.#isKept.length; i++) {
      const before = this.#distances[i];
      const isKept = before > this.#longest && before - distanceAt(x, target, 3 * i) < least;
      this.#isKept[i] = this.#inverseMasses[i] > 0 && isKept ? 1 : 0;
    }
    return this.#isKept.includes(1);
  }

  /** y ← x for the vertices that findKept has found. */
  restKept(x: Float32Array, y: Float32Array): void {
    for (let i = 0, k = 0; i < this.#isKept.length; i++, k += 3) {
      if (this.#isKept[i] === 1) y.set(x.subarray(k, k + 3), k);
    }
  }

  /** Whether a marked vertex was not pushed lately. */
  hasFree(marked: Uint8Array): boolean {
    return this.#unpushed.some((steps, i) => steps === FREE_STEPS && marked[i] === 1);
  }

  /**
   * Counts, after the sweeps of a step, the steps since a row pushed each vertex.
   *
   * @param y float32[3·V] after the sweeps
   * @param least engine units; a shorter push does not count
   */
  countUnpushed(y: Float32Array, least: number): void {
    const unpushed = this.#unpushed;
    const before = this.#rebuilt;
    for (let i = 0, k = 0; i < unpushed.length; i++, k += 3) {
      const dx = y[k] - before[k];
      const dy = y[k + 1] - before[k + 1];
      const dz = y[k + 2] - before[k + 2];
      const isPushed = dx * dx + dy * dy + dz * dz > least * least;
      unpushed[i] = isPushed ? 0 : Math.min(FREE_STEPS, unpushed[i] + 1);
    }
  }

  /**
   * Whether a vertex whose motion the leap limits has come nearer to its target by enough of the leap (LEAP_PROGRESS,
   * times the cost of the step).
   */
  isLeaping(x: Float32Array, target: Float32Array, cost: number): boolean {
    const least = cost * LEAP_PROGRESS * this.#longest;
    return this.#farAway.some((distance, i) => distance > 0 && distance - distanceAt(x, target, 3 * i) >= least);
  }
}
