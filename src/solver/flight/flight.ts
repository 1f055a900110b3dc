import { distanceAt } from '../cpu/motion.js';

const f = Math.fround;

/** One straight piece of some vertices, and the share of the way to its target that each of them makes. */
export class Flight {
  /** float32[3·V] beginning of the piece */
  readonly x: Float32Array;
  /** float32[3·V] end of the piece: x if a vertex rests, y* if its share is 1 */
  readonly z: Float32Array;
  /** float64[V] t_v: share of the way to the target; 0 = the vertex rests */
  readonly share: Float64Array;

  readonly #target: Float32Array;
  /** for a smaller share the end is less than a leap away: the vertex rests instead */
  readonly #least: Float64Array;
  /** float64[V] factor by which {@link apply} multiplies the share */
  readonly #factor: Float64Array;
  readonly #isNew: Uint8Array;

  /** @param fliers vertices that fly @param share most of the way of each @param leap the shortest useful flight */
  constructor(x: Float32Array, target: Float32Array, fliers: readonly number[], share: number, leap: number) {
    const vertexCount = x.length / 3;
    this.x = x;
    this.z = x.slice();
    this.#target = target;
    this.share = new Float64Array(vertexCount);
    this.#least = new Float64Array(vertexCount);
    this.#factor = new Float64Array(vertexCount).fill(1);
    this.#isNew = new Uint8Array(vertexCount);
    for (const i of fliers) {
      this.#least[i] = leap / distanceAt(x, target, 3 * i);
      this.#set(i, share);
    }
  }

  get isFlying(): boolean {
    return this.share.some((share) => share > 0);
  }

  /** Whether the end of vertex i differs from that of the previous round. */
  isNew(i: number): boolean {
    return this.#isNew[i] === 1;
  }

  /** Returns the share of vertex i that {@link apply} will set. */
  nextShare(i: number): number {
    return this.share[i] * this.#factor[i];
  }

  /** Limits the next share of vertex i to this part of its present share; {@link apply} sets it. */
  shorten(i: number, factor: number): void {
    this.#factor[i] = Math.min(this.#factor[i], factor);
  }

  /** Ends a round. @returns whether the end of any vertex has changed */
  apply(): boolean {
    let hasChanged = false;
    for (let i = 0; i < this.share.length; i++) {
      this.#isNew[i] = 0;
      if (this.share[i] === 0 || this.#factor[i] === 1) continue;
      this.#set(i, this.nextShare(i));
      hasChanged = true;
    }
    this.#factor.fill(1);
    return hasChanged;
  }

  #set(i: number, share: number): void {
    const { x, z } = this;
    const target = this.#target;
    const isResting = share < this.#least[i];
    this.share[i] = isResting ? 0 : share;
    this.#isNew[i] = 1;
    for (let k = 3 * i; k < 3 * i + 3; k++) {
      if (isResting) z[k] = x[k];
      else if (share === 1) z[k] = target[k];
      else z[k] = between(x[k], target[k], f(x[k] + share * (target[k] - x[k])));
    }
  }
}

/** Returns the value, or the nearer end if rounding has put it outside. */
function between(a: number, b: number, value: number): number {
  return Math.min(Math.max(value, Math.min(a, b)), Math.max(a, b));
}

/**
 * The boxes of the ways from x to z, lo xyz, hi xyz of each vertex. Shorter flights stay in them, because rounding is
 * monotone.
 *
 * @returns float32[6·V]
 */
export function waysBetween(x: Float32Array, z: Float32Array): Float32Array<ArrayBuffer> {
  const boxes = new Float32Array(2 * x.length);
  for (let k = 0; k < x.length; k++) {
    const q = 6 * Math.floor(k / 3) + (k % 3);
    boxes[q] = Math.min(x[k], z[k]);
    boxes[q + 3] = Math.max(x[k], z[k]);
  }
  return boxes;
}
