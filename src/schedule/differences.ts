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
  const unreachedKinematic: number[] = [];
  let deflectedVertices = 0;
  let maxSquared = 0;
  let sumSquared = 0;
  const deltaSquared = (delta * scale) ** 2;
  for (let v = 0; v < mesh.vertexCount; v++) {
    // Most vertices of most answers; all that follows is 0 for them.
    if (isSameAt(answer, target, v)) continue;
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
  };
}

/**
 * Largest length of an edge (contact and inner) in the answer against its length in the target. Edges without length in
 * the target have no ratio and are left out; 1 when there is no other edge.
 */
export function measureStretch(mesh: CollisionMesh, answer: Positions, target: Positions, scale: number): number {
  let largestSquared = 0;
  const stands = findStanding(mesh, answer, target);
  for (const edges of [mesh.edges, mesh.innerEdges]) {
    for (let e = 0; e < edges.length; e += 2) {
      const i = edges[e]!;
      const j = edges[e + 1]!;
      // Both ends stand on their targets: the ratio is exactly 1, which changes nothing once there was one.
      if (largestSquared >= 1 && stands[i] === 1 && stands[j] === 1) continue;
      const rest = distanceSquared(target, i, target, j, scale);
      if (rest === 0) continue;
      const ratio = distanceSquared(answer, i, answer, j, scale) / rest;
      if (ratio > largestSquared) largestSquared = ratio;
    }
  }
  return largestSquared === 0 ? 1 : Math.sqrt(largestSquared);
}

/** uint8[V] 1 = the answer is the target, as a number */
function findStanding(mesh: CollisionMesh, answer: Positions, target: Positions): Uint8Array {
  const stands = new Uint8Array(mesh.vertexCount);
  for (let v = 0; v < stands.length; v++) stands[v] = isSameAt(answer, target, v) ? 1 : 0;
  return stands;
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
