import type { ElementArrays } from './sweep-strains.js';

/*
 * The two convex sets of an element with strain limits, and a step on the dual of each (strain-limits.ts derives it):
 *
 *   Z = F + κ Λ,   Λ' = (Z − P(Z)) / κ,   P the nearest point of the set in the Frobenius norm
 *
 *   A: σ_max(F) ≤ s_max. P clamps singular values: Z − P(Z) = Σ (1 − s_max/σ_i) Z v_i v_iᵀ over σ_i > s_max, v_i
 *      eigenvectors of ZᵀZ.
 *   B: ½ (RᵀF + FᵀR) ⪰ s_min I. P clamps eigenvalues d_i of ½ (RᵀZ + ZᵀR): Z − P(Z) = −Σ (s_min − d_i) R v_i v_iᵀ over
 *      d_i < s_min.
 *
 * strain-triangle.ts and strain-tetrahedron.ts compute it.
 */

/** What the visit of an element's set has found. */
export const TURN = {
  /** far inside, and there is no push to withdraw */
  IDLE: 0,
  /** inside, but near its limit */
  NEAR: 1,
  /** Λ has changed, or may have */
  PUSHED: 2,
} as const;
export type Turn = (typeof TURN)[keyof typeof TURN];

/** How the elements of a kind are projected. */
export interface ElementKind {
  /** computes F */
  readonly deform: (arrays: ElementArrays, e: number) => void;
  /** set A, and set B: Λ ← Λ' */
  readonly boundStretch: (arrays: ElementArrays, e: number, most: number) => Turn;
  readonly boundShrink: (arrays: ElementArrays, e: number, least: number) => Turn;
  /** y_k ← y_k − w_k (Λ' − Λ) b_k */
  readonly move: (arrays: ElementArrays, e: number) => void;
}

/**
 * Moves the corners of an element by its sets A and B.
 *
 * @param least, @param most the range of its strains; 0 and infinity = no limit
 * @returns whether it acts: it pushes, has pushed, or is near a limit
 */
export function projectElement(
  kind: ElementKind,
  arrays: ElementArrays,
  e: number,
  least: number,
  most: number,
): boolean {
  kind.deform(arrays, e);
  let acts = false;
  if (most < Number.POSITIVE_INFINITY) {
    const turn = kind.boundStretch(arrays, e, most);
    acts = turn !== TURN.IDLE;
    if (turn === TURN.PUSHED) {
      kind.move(arrays, e);
      if (least > 0) kind.deform(arrays, e);
    }
  }
  if (least > 0) {
    const turn = kind.boundShrink(arrays, e, least);
    if (turn === TURN.PUSHED) kind.move(arrays, e);
    acts ||= turn !== TURN.IDLE;
  }
  return acts;
}
