import type { Settings } from '../settings.js';

/** Steps over which stagnation is judged. */
const WINDOW = 32;

/** A vertex that moved less than this share of δ over a window did not move. */
const STILL_SHARE = 1e-3;

/** A share of stopped vertices among the unfinished from which a new search is worth its cost. */
const STOPPED_SHARE = 0.1;

/** One unfinished vertex that stopped this many steps running asks for a search by itself. */
const STOPPED_STEPS = 4;

/** α within this share of α_guard means that the trust box, not a contact, stopped the vertex. */
const GUARD_SHARE = 0.999;

/**
 * Decides, from what happened in the last steps, whether the boxes should be renewed and whether the run has stagnated.
 * One blocked vertex keeps ‖r‖∞ at 1 while thousands still move, so the maximum alone says nothing: stagnation means
 * that over a window no unfinished vertex moved and their number did not fall, and that a forced search changed nothing.
 */
export class ProgressWatch {
  readonly #settings: Settings;
  readonly #stopped: Uint8Array;
  readonly #windowStart: Float32Array;
  #windowUnfinished = 0;
  #windowSteps = 0;
  #hasForcedSearch = false;

  constructor(vertexCount: number, settings: Settings) {
    this.#settings = settings;
    this.#stopped = new Uint8Array(vertexCount);
    this.#windowStart = new Float32Array(3 * vertexCount);
  }

  begin(x: Float32Array, unfinished: number): void {
    this.#stopped.fill(0);
    this.#hasForcedSearch = false;
    this.#openWindow(x, unfinished);
  }

  /** The re-search rule (guard BOXES): call once a step, after the forward step. */
  wantsSearch(residual: Float32Array, alpha: Float32Array, alphaGuard: Float32Array, moving: Uint8Array): boolean {
    let unfinished = 0;
    let stopped = 0;
    let isStarved = false;
    for (let i = 0; i < residual.length; i++) {
      if (!(residual[i] >= this.#settings.epsilon)) continue;
      unfinished++;
      const isStopped =
        moving[i] === 1 && alphaGuard[i] < 1 && (alphaGuard[i] === 0 || alpha[i] >= GUARD_SHARE * alphaGuard[i]);
      if (!isStopped) {
        this.#stopped[i] = 0;
        continue;
      }
      stopped++;
      if (++this.#stopped[i] >= STOPPED_STEPS) isStarved = true;
    }
    if (!isStarved && (stopped === 0 || stopped < STOPPED_SHARE * unfinished)) return false;
    this.#stopped.fill(0);
    return true;
  }

  /** Call once a step. 'search' = search once more before giving up; 'stalled' = that did not help either. */
  judge(x: Float32Array, residual: Float32Array, unfinished: number): 'going' | 'search' | 'stalled' {
    if (++this.#windowSteps < WINDOW) return 'going';
    const limit = (STILL_SHARE * this.#settings.delta) ** 2;
    let hasMoved = unfinished < this.#windowUnfinished;
    const from = this.#windowStart;
    for (let i = 0, k = 0; i < residual.length && !hasMoved; i++, k += 3) {
      if (!(residual[i] >= this.#settings.epsilon)) continue;
      const dx = x[k] - from[k];
      const dy = x[k + 1] - from[k + 1];
      const dz = x[k + 2] - from[k + 2];
      hasMoved = dx * dx + dy * dy + dz * dz > limit;
    }
    this.#openWindow(x, unfinished);
    if (hasMoved) {
      this.#hasForcedSearch = false;
      return 'going';
    }
    if (this.#hasForcedSearch) return 'stalled';
    this.#hasForcedSearch = true;
    return 'search';
  }

  #openWindow(x: Float32Array, unfinished: number): void {
    this.#windowStart.set(x);
    this.#windowUnfinished = unfinished;
    this.#windowSteps = 0;
  }
}
