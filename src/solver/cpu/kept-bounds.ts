import type { Forward } from './forward.js';

/** Replaces a pair. */
const NONE = -1;

/**
 * Which pair determined the α of a vertex: the one that bounded it, unless its edges or elements have reduced α below
 * that bound since. Then the vertex is not held by the pair, which would have allowed it to move farther, but by a
 * neighbour, which is visible in the positions: the edge is at its limit. The device determines limiters by the same
 * rule, because it compares the bounds of pairs with the final α (gpu/kernels/forward/check.wgsl).
 *
 * The search rule uses Forward.limiter without this correction.
 */
export class KeptBounds {
  readonly #forward: Pick<Forward, 'alpha' | 'limiter'>;
  #bound = new Float32Array(0);
  #lowered = new Float32Array(0);

  constructor(forward: Pick<Forward, 'alpha' | 'limiter'>) {
    this.#forward = forward;
  }

  /** @param alpha as the pairs have bounded it */
  begin(alpha: Float32Array): void {
    this.#bound = alpha.slice();
  }

  /** @param alpha as it is written */
  end(alpha: Float32Array): void {
    this.#lowered = alpha.slice();
  }

  /** int32[V] after the step; −1 = no pair determined the vertex's α */
  get limiter(): Int32Array {
    const { alpha, limiter } = this.#forward;
    // The α of a vertex that the check has reverted differs from the one that was written, and its limiter is the pair
    // whose half-space it would have violated.
    const isLowered = (v: number) => this.#lowered[v]! < this.#bound[v]! && alpha[v] === this.#lowered[v];
    return limiter.map((p, v) => (isLowered(v) ? NONE : p));
  }
}
