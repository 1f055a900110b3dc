import type { Positions } from '../contract/mesh.js';
import { allEdges } from '../mesh/limited-edges.js';
import { ownLength, referenceSquared } from '../mesh/rest-lengths.js';
import type { CollisionMesh } from '../mesh/types.js';
import { LEAST_SQUARE, lengthBetween, ratioOfLengths } from './length-ratios.js';

/** How an answer differs from its target, in the caller's unit, computed in double from the caller's own numbers. */
export interface Differences {
  /** kinematic vertices whose answer differs from their target, ascending */
  readonly unreachedKinematic: readonly number[];
  /** vertices farther than δ from their target */
  readonly deflectedVertices: number;
  /** over dynamic vertices: kinematic ones are at their targets, and would reduce the mean effect of contacts */
  readonly max: number;
  readonly rms: number;
  /** over kinematic vertices */
  readonly kinematicMax: number;
  /** float32[V], filled on request */
  readonly distances: Float32Array | undefined;
  /** uint8[V] 1 = answer and target differ as numbers */
  readonly isOff: Uint8Array;
  /** how many vertices are off */
  readonly offCount: number;
}

/**
 * @param scale a power of two that brings lengths near 1: squares then neither overflow nor underflow, and scaling is exact
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
  let kinematicSquared = 0;
  let sumSquared = 0;
  const deltaSquared = (delta * scale) ** 2;
  for (let v = 0, k = 0; v < mesh.vertexCount; v++, k += 3) {
    // A difference of doubles is 0 only if they are equal. Scaling may make it underflow, so it comes after the comparison.
    let x = answer[k]! - target[k]!;
    let y = answer[k + 1]! - target[k + 1]!;
    let z = answer[k + 2]! - target[k + 2]!;
    // True for most vertices of most answers; they contribute 0 to everything below.
    if (x === 0 && y === 0 && z === 0) continue;
    isOff[v] = 1;
    offCount++;
    x *= scale;
    y *= scale;
    z *= scale;
    const squared = x * x + y * y + z * z;
    if (distances) distances[v] = Math.sqrt(squared) / scale;
    if (squared > deltaSquared) deflectedVertices++;
    if (mesh.kinematic[v]) {
      unreachedKinematic.push(v);
      if (squared > kinematicSquared) kinematicSquared = squared;
      continue;
    }
    if (squared > maxSquared) maxSquared = squared;
    sumSquared += squared;
  }
  return {
    unreachedKinematic,
    deflectedVertices,
    max: Math.sqrt(maxSquared) / scale,
    rms: Math.sqrt(sumSquared / Math.max(1, countDynamic(mesh))) / scale,
    kinematicMax: Math.sqrt(kinematicSquared) / scale,
    distances,
    isOff,
    offCount,
  };
}

function countDynamic({ kinematic }: CollisionMesh): number {
  let count = 0;
  for (let v = 0; v < kinematic.length; v++) if (!kinematic[v]) count++;
  return count;
}

/**
 * The largest ratio of an edge's length (contact and inner edges) in the answer to its length in the target, or to its
 * length at rest if it has one. Edges whose reference has no length have no ratio and are skipped; the result is 1 if
 * there is no other edge.
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
  if (mesh.restLengths) return measureAgainstRest(mesh, answer, target, scale);
  const edgeArrays = [mesh.edges, mesh.innerEdges];
  if (off.offCount > mesh.vertexCount / VERTICES_PER_OFF) {
    const largest = Math.max(...edgeArrays.map((edges) => largestRatioOfAll(edges, answer, target, scale)));
    return largest === 0 ? 1 : largest;
  }
  // An edge whose ends are both at their targets has the ratio 1, exactly: one such edge represents all of them.
  const largest =
    off.offCount === 0
      ? 0
      : Math.max(...edgeArrays.map((edges) => largestRatio(edges, answer, target, scale, off.isOff)));
  if (largest >= 1 || edgeArrays.some((edges) => hasUnmoved(edges, target, off.isOff))) return Math.max(1, largest);
  return largest === 0 ? 1 : largest;
}

/** The same with lengths at rest, where an edge need not have ratio 1 because its ends are at their targets. */
function measureAgainstRest(mesh: CollisionMesh, answer: Positions, target: Positions, scale: number): number {
  let largestSquared = 0;
  let ofShort = 0;
  for (const { ends, rest } of allEdges(mesh)) {
    for (let e = 0; e < ends.length / 2; e++) {
      const [i, j] = [ends[2 * e]!, ends[2 * e + 1]!];
      const reference = referenceSquared(rest?.[e], distanceSquared(target, i, target, j, scale), scale);
      if (reference < LEAST_SQUARE) {
        ofShort = Math.max(ofShort, ratioOfLengths(answer, target, i, j, ownLength(rest?.[e])));
        continue;
      }
      largestSquared = Math.max(largestSquared, distanceSquared(answer, i, answer, j, scale) / reference);
    }
  }
  const largest = Math.max(ofShort, Math.sqrt(largestSquared));
  return largest === 0 ? 1 : largest;
}

/** If more than one vertex in four is off, looking for edges with such an end costs more than measuring every edge. */
const VERTICES_PER_OFF = 4;

/** A ratio is computed only if it may be the largest: the product below has an error of three roundings at most. */
const NEARLY = 1 - 2 ** -50;

/** The largest ratio of all edges with a length in the target; 0 if none has one. Most edges need no division. */
function largestRatioOfAll(edges: Uint32Array, answer: Positions, target: Positions, scale: number): number {
  let largestSquared = 0;
  let nearlyLargest = 0;
  let ofShort = 0;
  for (let e = 0; e < edges.length; e += 2) {
    const i = edges[e]!;
    const j = edges[e + 1]!;
    const rest = distanceSquared(target, i, target, j, scale);
    if (rest < LEAST_SQUARE) {
      ofShort = Math.max(ofShort, ratioOfLengths(answer, target, i, j));
      continue;
    }
    const stretched = distanceSquared(answer, i, answer, j, scale);
    if (stretched < nearlyLargest * rest) continue;
    const ratio = stretched / rest;
    if (ratio <= largestSquared) continue;
    largestSquared = ratio;
    nearlyLargest = ratio * NEARLY;
  }
  return Math.max(ofShort, Math.sqrt(largestSquared));
}

/** The largest ratio of the edges with an end that is off its target; 0 if none of them has one. */
function largestRatio(
  edges: Uint32Array,
  answer: Positions,
  target: Positions,
  scale: number,
  isOff: Uint8Array,
): number {
  let largestSquared = 0;
  let ofShort = 0;
  for (let e = 0; e < edges.length; e += 2) {
    const i = edges[e]!;
    const j = edges[e + 1]!;
    if ((isOff[i]! | isOff[j]!) === 0) continue;
    const rest = distanceSquared(target, i, target, j, scale);
    if (rest < LEAST_SQUARE) {
      ofShort = Math.max(ofShort, ratioOfLengths(answer, target, i, j));
      continue;
    }
    const ratio = distanceSquared(answer, i, answer, j, scale) / rest;
    if (ratio > largestSquared) largestSquared = ratio;
  }
  return Math.max(ofShort, Math.sqrt(largestSquared));
}

/** Whether an edge with a length has both its ends at their targets. */
function hasUnmoved(edges: Uint32Array, target: Positions, isOff: Uint8Array): boolean {
  for (let e = 0; e < edges.length; e += 2) {
    const i = edges[e]!;
    const j = edges[e + 1]!;
    if ((isOff[i]! | isOff[j]!) === 0 && lengthBetween(target, i, j) > 0) return true;
  }
  return false;
}

function distanceSquared(a: Positions, i: number, b: Positions, j: number, scale: number): number {
  const p = 3 * i;
  const q = 3 * j;
  const x = (a[p]! - b[q]!) * scale;
  const y = (a[p + 1]! - b[q + 1]!) * scale;
  const z = (a[p + 2]! - b[q + 2]!) * scale;
  return x * x + y * y + z * z;
}
