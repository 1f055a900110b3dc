import { FALLEN_SHARE, GUARD_SHARE, STOPPED_SHARE, STOPPED_STEPS, TRAVEL, WINDOW } from '../constants.js';
import type { Settings } from '../settings.js';
import type { Forward } from './forward.js';
import { distanceAt } from './motion.js';
import type { PairSet } from './pair-set.js';
import { Scratch } from './workspace.js';

/**
 * State of a run: it progresses; it must search once more before it counts as stagnated; or that search has changed
 * nothing.
 */
export type Verdict = 'going' | 'search' | 'stalled';

/**
 * Decides from the last steps whether the boxes need renewal and whether the run has stagnated. One blocked vertex
 * keeps ‖r‖∞ at 1 while thousands still move, so the maximum alone says nothing. Stagnation means that over a window
 * the sum of all r hardly fell and no unfinished vertex travelled, and that a forced search changed nothing. Neither
 * criterion suffices alone: compressed cloth creeps and oscillates endlessly without reducing r, and r falls very
 * little while vertices approach a far target leap by leap.
 */
export class ProgressWatch {
  readonly #settings: Settings;
  readonly #stopped: Uint8Array;
  /** uint8[V] 1 = unfinished, or in a pair that bounds an unfinished vertex */
  readonly #relevant: Uint8Array;
  /** uint8[V] 1 = the next search should renew the box */
  readonly wanted: Uint8Array;
  /** float32[3·V] x at the window's start */
  readonly #windowStart: Float32Array;
  #windowSum = 0;
  #windowSteps = 0;
  #hasForcedSearch = false;

  constructor(vertexCount: number, settings: Settings, scratch = new Scratch()) {
    this.#settings = settings;
    this.#stopped = scratch.uint8('stopped', vertexCount).fill(0);
    this.#relevant = scratch.uint8('relevant', vertexCount).fill(0);
    this.wanted = scratch.uint8('wanted', vertexCount).fill(0);
    this.#windowStart = scratch.float32('window start', 3 * vertexCount).fill(0);
  }

  begin(x: Float32Array, residual: Float32Array): void {
    this.#stopped.fill(0);
    this.#hasForcedSearch = false;
    this.#openWindow(x, residual);
  }

  /**
   * Decides whether to search again (guard BOXES), and marks `wanted`. Call once per step, after the forward step.
   * Relevant vertices are the unfinished ones and those of the pairs that bound them: a vertex that has finished its
   * own motion may still have to yield to the contact that bounds an unfinished one, so it must not stop at the face of
   * its box.
   */
  wantsSearch(residual: Float32Array, forward: Forward, moving: Uint8Array, pairs: PairSet): boolean {
    const { alpha, alphaGuard } = forward;
    this.#markRelevant(residual, forward.limiter, pairs);
    let relevant = 0;
    let stopped = 0;
    let isStarved = false;
    for (let i = 0; i < residual.length; i++) {
      const isUnfinished = residual[i] >= this.#settings.epsilon;
      // A vertex whose motion leaves its box needs a new one; the other unfinished vertices are likely to need one
      // soon.
      this.wanted[i] = moving[i] === 1 && (isUnfinished || alphaGuard[i] < 1) ? 1 : 0;
      if (this.#relevant[i] === 0) continue;
      relevant++;
      const isStopped =
        moving[i] === 1 && alphaGuard[i] < 1 && (alphaGuard[i] === 0 || alpha[i] >= GUARD_SHARE * alphaGuard[i]);
      if (!isStopped) {
        this.#stopped[i] = 0;
        continue;
      }
      stopped++;
      if (++this.#stopped[i] >= STOPPED_STEPS) isStarved = true;
    }
    if (!isStarved && (stopped === 0 || stopped < STOPPED_SHARE * relevant)) return false;
    this.#stopped.fill(0);
    return true;
  }

  #markRelevant(residual: Float32Array, limiter: Int32Array, pairs: PairSet): void {
    const relevant = this.#relevant;
    relevant.fill(0);
    for (let i = 0; i < residual.length; i++) {
      if (!(residual[i] >= this.#settings.epsilon)) continue;
      relevant[i] = 1;
      const p = limiter[i];
      if (p < 0) continue;
      for (let s = 4 * p; s < 4 * p + 4; s++) if (pairs.vertex[s] >= 0) relevant[pairs.vertex[s]] = 1;
    }
  }

  /** Call once per step. */
  judge(x: Float32Array, residual: Float32Array): Verdict {
    if (++this.#windowSteps < WINDOW) return 'going';
    const sum = this.#sumOfUnfinished(residual);
    const hasMoved = sum < (1 - FALLEN_SHARE) * this.#windowSum || this.#hasTravelled(x, residual);
    this.#openWindow(x, residual);
    if (hasMoved) {
      this.#hasForcedSearch = false;
      return 'going';
    }
    if (this.#hasForcedSearch) return 'stalled';
    this.#hasForcedSearch = true;
    return 'search';
  }

  #sumOfUnfinished(residual: Float32Array): number {
    let sum = 0;
    for (const r of residual) if (r >= this.#settings.epsilon) sum += r;
    return sum;
  }

  /** Whether an unfinished vertex travelled since the window's start. */
  #hasTravelled(x: Float32Array, residual: Float32Array): boolean {
    for (let i = 0; i < residual.length; i++) {
      if (
        residual[i] >= this.#settings.epsilon &&
        distanceAt(this.#windowStart, x, 3 * i) > TRAVEL * this.#settings.delta
      ) {
        return true;
      }
    }
    return false;
  }

  #openWindow(x: Float32Array, residual: Float32Array): void {
    this.#windowStart.set(x);
    this.#windowSum = this.#sumOfUnfinished(residual);
    this.#windowSteps = 0;
  }
}
