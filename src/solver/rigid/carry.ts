import { SIDE_A } from '../pair-kinds.js';
import type { RigidMotions } from './move-rigidly.js';
import { turn } from './rotation.js';

/**
 * Carries trust boxes along with groups that have moved: float32[6·V] lo xyz, hi xyz, in place.
 *
 * Two elements of one group that are not in P had disjoint hulls of boxes, each grown by δ/2: some axis keeps the hulls
 * more than δ apart. If the hulls are rotated with the group, they stay as far apart along the rotated axis. So boxes
 * that lie in the rotated ones are valid like the old ones. Let m_c be the distance of x to the nearer face of the old
 * box along axis c. In the coordinates of the group the cube x' ± r extends by Σ_j |R_jc| r along axis c, so it lies in
 * the rotated box if r ≤ m_c / Σ_j |R_jc| for each c. If x' differs from R x + t by up to `off`, r is smaller by as
 * much. A box that is a point remains a point, which is displaced by up to `off`; the caller subtracts that from the δ
 * between hulls.
 *
 * @param before float32[3·V] positions before the motion
 * @param after float32[3·V] positions after the motion
 * @param off engine units: |x' − (R x + t)| at most
 * @returns whether every vertex was in its box; if so, its new box contains it, otherwise the boxes are undefined
 */
export function carryBoxes(
  box: Float32Array,
  before: Float32Array,
  after: Float32Array,
  { label, rotations }: RigidMotions,
  off: number,
): boolean {
  // Σ_j |R_jc| by axis c
  const sums = rotations.map((r) => [0, 1, 2].map((c) => Math.abs(r[c]) + Math.abs(r[3 + c]) + Math.abs(r[6 + c])));
  for (let v = 0; v < label.length; v++) {
    const sum = sums[label[v] - 1];
    let r = Number.POSITIVE_INFINITY;
    let isPoint = true;
    for (let c = 0; c < 3; c++) {
      const at = before[3 * v + c];
      const [lo, hi] = [box[6 * v + c], box[6 * v + 3 + c]];
      if (!(at >= lo && at <= hi)) return false;
      if (lo !== hi) isPoint = false;
      if (sum) r = Math.min(r, Math.min(at - lo, hi - at) / sum[c]);
    }
    if (!sum) continue;
    // Rounding x' ± r to float32 must not widen the box: half an ulp of x' is below `off`.
    const radius = isPoint ? 0 : Math.max(0, r - 2 * off);
    for (let c = 0; c < 3; c++) {
      const at = after[3 * v + c];
      box[6 * v + c] = radius > 0 ? Math.min(at, at - radius) : at;
      box[6 * v + 3 + c] = radius > 0 ? Math.max(at, at + radius) : at;
    }
  }
  return true;
}

/** The pairs that {@link carryNormals} reads: kind, vertices and normals as in a pair set. */
interface CarriedPairs {
  readonly count: number;
  readonly kind: Uint8Array;
  readonly vertex: Int32Array;
  readonly normal: Float32Array;
}

/** Whether both sides of pair p belong to one group, or both rest. */
export function isWithinGroup({ kind, vertex }: CarriedPairs, p: number, label: Uint8Array): boolean {
  return label[vertex[4 * p]] === label[vertex[4 * p + SIDE_A[kind[p]]]];
}

/**
 * Rotates the last normal of every pair within a group with the group. Any vector is a valid candidate, so rounding
 * does not matter.
 */
export function carryNormals(pairs: CarriedPairs, { label, rotations }: RigidMotions): void {
  const { count, vertex, normal } = pairs;
  for (let p = 0; p < count; p++) {
    const rotation = rotations[label[vertex[4 * p]] - 1];
    if (!rotation || !isWithinGroup(pairs, p, label)) continue;
    const [x, y, z] = turn(rotation, [normal[3 * p], normal[3 * p + 1], normal[3 * p + 2]]);
    normal[3 * p] = x;
    normal[3 * p + 1] = y;
    normal[3 * p + 2] = z;
  }
}
