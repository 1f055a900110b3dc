import {
  closest,
  closestEdgeEdge,
  closestVertexEdge,
  closestVertexTriangle,
  closestVertexVertex,
} from '../../../src/solver/cpu/closest.js';
import type { Contacts } from '../../../src/solver/cpu/contacts.js';
import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { CORNERS, EE, SIDE_A, VE, VT } from '../../../src/solver/pair-kinds.js';

/**
 * Linearises gap constraints that were assembled at x at the current target y instead. Closest points and normal are
 * those at y; the sign of the gap follows from the normal at x, so that a pair that has passed through at y counts as
 * too near, not as apart. A pair that touches at y has no normal there and keeps its row's normal, with gap 0.
 */
export function lineariseAtTarget(
  contacts: Contacts,
  pairs: PairSet,
  y: Float32Array,
  inverseMass: Float32Array,
): void {
  const { corner, jacobian, value, stiffness, pairOf } = contacts;
  for (let r = 0; r < contacts.count; r++) {
    const p = pairOf[r];
    const kind = pairs.kind[p];
    const v = pairs.vertex.subarray(4 * p, 4 * p + 4);
    if (kind === VT) closestVertexTriangle(y, v[0], v[1], v[2], v[3]);
    else if (kind === EE) closestEdgeEdge(y, v[0], v[1], v[2], v[3]);
    else if (kind === VE) closestVertexEdge(y, v[0], v[1], v[2]);
    else closestVertexVertex(y, v[0], v[1]);
    const atX = pairs.normal.subarray(3 * p, 3 * p + 3);
    const distance = Math.sqrt(closest.squared);
    const sign = closest.x * atX[0] + closest.y * atX[1] + closest.z * atX[2] < 0 ? -1 : 1;
    const normal =
      distance > 0 ? [closest.x, closest.y, closest.z].map((component) => (sign * component) / distance) : [...atX];
    const weight = [closest.w0, closest.w1, closest.w2, closest.w3];
    let sum = 0;
    for (let s = 0; s < 4; s++) {
      const w = s < CORNERS[kind] ? weight[s] : 0;
      corner[4 * r + s] = w > 0 ? v[s] : -1;
      if (w > 0) sum += inverseMass[v[s]] * w * w;
      for (let c = 0; c < 3; c++) jacobian[12 * r + 3 * s + c] = (s < SIDE_A[kind] ? w : -w) * normal[c];
    }
    const isMovable = sum > 0;
    stiffness[r] = isMovable ? sum : 1;
    // Only kinematic vertices have weight at y: nothing to do.
    value[r] = isMovable ? sign * distance - pairs.delta[p] : Number.MAX_VALUE;
  }
}
