import type { Warning } from '../contract/errors.js';
import { IntersticeError } from '../contract/errors.js';
import type { Parameters } from '../contract/parameters.js';
import { lengthOfPair } from '../mesh/part-lengths.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import { CORNERS, SIDE_A } from './pair-kinds.js';
import { isAboveHalfEdge, longestLengthOf, nameTypicalEdge, refuseCrowding } from './parameters.js';
import type { Settings } from './settings.js';

/**
 * Activation distances of parts: a part may have its own δ, otherwise it takes `parameters.activationDistance`. That of a
 * pair is the mean of both sides (mesh/part-lengths.ts). So if boxes are grown by half of the δ of their side, they find
 * exactly the pairs within the pair's δ.
 */

/** Smallest and largest δ of a vertex, in the unit of `delta`; `delta` itself if there are no parts. */
export function rangeOfDistances({ parts }: CollisionMesh, delta: number): { smallest: number; largest: number } {
  let smallest = Number.POSITIVE_INFINITY;
  let largest = 0;
  for (const { activationDistance = delta } of parts) {
    smallest = Math.min(smallest, activationDistance);
    largest = Math.max(largest, activationDistance);
  }
  return parts.length === 0 ? { smallest: delta, largest: delta } : { smallest, largest };
}

/** float32[V] δ by vertex, engine units; undefined if no part has one of its own. */
export function distancesByVertex(
  mesh: CollisionMesh,
  { delta, scale }: Pick<Settings, 'delta' | 'scale'>,
): Float32Array | undefined {
  if (!mesh.parts.some(({ activationDistance }) => activationDistance !== undefined)) return undefined;
  const distances = new Float32Array(mesh.vertexCount).fill(delta);
  for (const { firstVertex, vertexCount, activationDistance } of mesh.parts) {
    if (activationDistance === undefined) continue;
    distances.fill(activationDistance * scale, firstVertex, firstVertex + vertexCount);
  }
  return distances;
}

/** Returns the smallest δ of a vertex. @param delta if no part has one of its own */
export function smallestDistance(distances: Float32Array | undefined, delta: number): number {
  return distances?.reduce((min, distance) => Math.min(min, distance)) ?? delta;
}

/** δ of a pair. @param distances float32[V] */
export function pairActivationDistance(
  distances: Float32Array,
  kind: number,
  v0: number,
  v1: number,
  v2: number,
  v3: number,
): number {
  return lengthOfPair(distances, SIDE_A[kind], CORNERS[kind], v0, v1, v2, v3);
}

/** {@link pairActivationDistance} of pair p of P. */
export function distanceOfPair(
  distances: Float32Array,
  { kind, vertex }: { readonly kind: Uint8Array; readonly vertex: Int32Array },
  p: number,
): number {
  const q = 4 * p;
  return pairActivationDistance(distances, kind[p], vertex[q], vertex[q + 1], vertex[q + 2], vertex[q + 3]);
}

/**
 * Checks the parts' activation distances against the parameters and the mesh.
 *
 * @returns a warning for each part whose δ exceeds half the typical edge
 * @throws INVALID_PARAMETER for a δ beyond the longest length, or beyond the search radius of preset PAPER
 */
export function checkPartDistances(
  mesh: Pick<CollisionMesh, 'parts'>,
  { preset, searchRadiusMin, method }: Parameters,
  measures: MeshMeasures,
): Warning[] {
  const warnings: Warning[] = [];
  const longest = longestLengthOf(measures);
  mesh.parts.forEach(({ name, activationDistance: delta }, index) => {
    if (delta === undefined) return;
    const path = `mesh.parts[${index}].activationDistance`;
    const element = { kind: 'part', index, vertices: [] };
    if (delta > longest) {
      throw new IntersticeError('INVALID_PARAMETER', `${path} is ${delta}; it must be at most ${longest}.`, {
        element,
      });
    }
    refuseCrowding(path, delta, measures.largestDeltas?.[index], measures, element);
    // A search covers at least Dmin; whether it covered a longer δ would depend on when it happened.
    if (preset === 'PAPER' && delta > searchRadiusMin) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `${path} is ${delta}; under preset PAPER it must be at most searchRadiusMin, ${searchRadiusMin}.`,
        { element, hint: `Set searchRadiusMin to at least ${delta}, or use preset TUNED.` },
      );
    }
    if (method !== 'VOLUME_IMPULSES' && isAboveHalfEdge(delta, measures)) {
      warnings.push({
        code: 'DELTA_ABOVE_HALF_EDGE',
        message: `activationDistance ${delta} of part ${JSON.stringify(name)} exceeds half ${nameTypicalEdge(measures)}: neighbouring elements may push each other apart.`,
        element,
        count: 1,
      });
    }
  });
  return warnings;
}
