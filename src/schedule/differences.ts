import type { CollisionMesh, Positions } from '../mesh/types.js';

/** How an answer relates to its target, in the caller's unit, computed in double on the caller's own numbers. */
export interface Differences {
  /** kinematic vertices whose answer differs from their target, ascending */
  readonly unreachedKinematic: readonly number[];
  /** vertices farther than δ from their target */
  readonly deflectedVertices: number;
  readonly max: number;
  /** over all vertices */
  readonly rms: number;
  /** float32[V], filled on request */
  readonly distances: Float32Array | undefined;
  /** uint8[V] 1 = the answer is not the target, as numbers */
  readonly isOff: Uint8Array;
  /** how many of them */
  readonly offCount: number;
}

/**
 * @param scale a power of two that brings lengths near 1: squares then neither overflow nor vanish, and scaling is exact
 */
export function compareToTarget(
  mesh: CollisionMesh,
  answer: Positions,
  target: Positions,
  options: { readonly delta: number; readonly scale: number; readonly isListed: boolean },
): Differences {
  const { delta, scale, isListed } = options;
  const distances = isListed ? new Float32Array(mesh.vertexCount) : undefined;
  const isOff = new Uint8Array(mesh.vertexCount);
  let offCount = 0;
  const unreachedKinematic: number[] = [];
  let deflectedVertices = 0;
  let maxSquared = 0;
  let sumSquared = 0;
  const deltaSquared = (delta * scale) ** 2;
  for (let v = 0; v < mesh.vertexCount; v++) {
    // Most vertices of most answers; all that follows is 0 for them.
    if (isSameAt(answer, target, v)) continue;
    isOff[v] = 1;
    offCount++;
    const squared = distanceSquared(answer, v, target, v, scale);
    if (distances) distances[v] = Math.sqrt(squared) / scale;
    if (squared > deltaSquared) deflectedVertices++;
    if (squared > maxSquared) maxSquared = squared;
    sumSquared += squared;
    if (mesh.kinematic[v]) unreachedKinematic.push(v);
  }
  return {
    unreachedKinematic,
    deflectedVertices,
    max: Math.sqrt(maxSquared) / scale,
    rms: mesh.vertexCount === 0 ? 0 : Math.sqrt(sumSquared / mesh.vertexCount) / scale,
    distances,
    isOff,
    offCount,
  };
}

/**
 * Largest length of an edge (contact and inner) in the answer against its length in the target. Edges without length in
 * the target have no ratio and are left out; 1 when there is no other edge.
 *
 * @param off where answer and target differ, by {@link compareToTarget}
 */
export function measureStretch(
  mesh: CollisionMesh,
  answer: Positions,
  target: Positions,
  scale: number,
  off: Pick<Differences, 'isOff' | 'offCount'>,
): number {
  const edgeArrays = [mesh.edges, mesh.innerEdges];
  // An edge whose ends both stand on their targets has the ratio 1, exactly: one of those stands for all of them.
  const largestSquared =
    off.offCount === 0
      ? 0
      : Math.max(...edgeArrays.map((edges) => largestRatio(edges, answer, target, scale, off.isOff)));
  if (largestSquared >= 1 || edgeArrays.some((edges) => hasStanding(edges, target, scale, off.isOff))) {
    return Math.sqrt(Math.max(1, largestSquared));
  }
  return largestSquared === 0 ? 1 : Math.sqrt(largestSquared);
}

/** The largest squared ratio of the edges with an end that is off its target; 0 if none of them has one. */
function largestRatio(
  edges: Uint32Array,
  answer: Positions,
  target: Positions,
  scale: number,
  isOff: Uint8Array,
): number {
  let largestSquared = 0;
  for (let e = 0; e < edges.length; e += 2) {
    const i = edges[e]!;
    const j = edges[e + 1]!;
    if ((isOff[i]! | isOff[j]!) === 0) continue;
    const rest = distanceSquared(target, i, target, j, scale);
    if (rest === 0) continue;
    const ratio = distanceSquared(answer, i, answer, j, scale) / rest;
    if (ratio > largestSquared) largestSquared = ratio;
  }
  return largestSquared;
}

/** Whether an edge with a length has both its ends on their targets. */
function hasStanding(edges: Uint32Array, target: Positions, scale: number, isOff: Uint8Array): boolean {
  for (let e = 0; e < edges.length; e += 2) {
    const i = edges[e]!;
    const j = edges[e + 1]!;
    if ((isOff[i]! | isOff[j]!) === 0 && distanceSquared(target, i, target, j, scale) > 0) return true;
  }
  return false;
}

function distanceSquared(a: Positions, i: number, b: Positions, j: number, scale: number): number {
  const x = (a[3 * i]! - b[3 * j]!) * scale;
  const y = (a[3 * i + 1]! - b[3 * j + 1]!) * scale;
  const z = (a[3 * i + 2]! - b[3 * j + 2]!) * scale;
  return x * x + y * y + z * z;
}

function isSameAt(a: Positions, b: Positions, v: number): boolean {
  return a[3 * v] === b[3 * v] && a[3 * v + 1] === b[3 * v + 1] && a[3 * v + 2] === b[3 * v + 2];
}
