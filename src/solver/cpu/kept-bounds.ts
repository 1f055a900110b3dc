import type { Forward } from './forward.js';

/** In place of a pair. */
const NONE = -1;

/**
 * Which pair gave a vertex the α that it has: the one that bounded it, unless its edges or elements have lowered α below that bound since. Then
 * the vertex is not held by the pair, which would have let it go further, but by a neighbour, and that shows in the positions: the edge is at its
 * limit. The device names limiters by the same rule, since it compares the bounds of pairs with the final α (gpu/kernels/forward/check.wgsl).
 *
 * The search rule goes by Forward.limiter as it is.
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

  /** int32[V] after the step; −1 = no pair gave the vertex its α */
  get limiter(): Int32Array {
    const { alpha, limiter } = this.#forward;
    // A vertex that the check has sent back has another α than was written, and its limiter is the pair that it would have broken.
    const isLowered = (v: number) => this.#lowered[v]! < this.#bound[v]! && alpha[v] === this.#lowered[v];
    return limiter.map((p, v) => (isLowered(v) ? NONE : p));
  }
}
