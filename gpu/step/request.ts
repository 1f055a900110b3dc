import type { CollisionMesh } from '../../src/mesh/types.js';
import { ARRIVAL_ROUNDING, UNIT_ROUNDOFF } from '../../src/solver/constants.js';
import { distancesByVertex } from '../../src/solver/part-distances.js';
import type { Settings } from '../../src/solver/settings.js';
import { PARAMETERS } from '../kernels/structs.js';
import type { EdgePlan } from './edge-plan.js';

/**
 * More contacts than this are worth rounds of whole dispatches before one workgroup takes the rest: a round costs two
 * dispatches, and one workgroup of 256 threads takes a sweep of so many in 64 turns.
 */
export const TAIL_ROWS = 16384;

/**
 * The parameter block of a request.
 *
 * @param start float32[3·V], for the largest coordinate X
 * @param waitsForSearch whether the run pauses for each search
 */
export function packParameters(
  mesh: CollisionMesh,
  settings: Settings,
  edges: EdgePlan,
  start: Float32Array,
  waitsForSearch: boolean,
): ArrayBuffer {
  const s = settings;
  let largest = 0;
  const distances = distancesByVertex(mesh, settings);
  for (let k = 0; k < start.length; k++) largest = Math.max(largest, Math.abs(start[k]));
  return PARAMETERS.pack({
    vertexCount: mesh.vertexCount,
    edgeCount: edges.count,
    wideColours: edges.wideColours,
    stepLimit: s.stepLimit,
    delta: s.delta,
    floor: s.floor,
    gamma: s.gamma,
    epsilon: s.epsilon,
    sigma: s.sigma,
    radiusMin: s.searchRadiusMin,
    radiusMax: s.searchRadiusMax,
    arrivedWithin: ARRIVAL_ROUNDING * UNIT_ROUNDOFF * largest,
    isPlanar: s.forward === 'PLANAR' ? 1 : 0,
    isVolume: s.contact === 'VOLUME' ? 1 : 0,
    hasBoxes: s.guard === 'BOXES' ? 1 : 0,
    skipsKinematicPairs: s.skipKinematicPairs ? 1 : 0,
    waitsForSearch: waitsForSearch ? 1 : 0,
    tailRows: TAIL_ROWS,
    hasDistances: distances ? 1 : 0,
    leastDelta: distances?.reduce((least, distance) => Math.min(least, distance)) ?? s.delta,
    mostDelta: distances?.reduce((most, distance) => Math.max(most, distance)) ?? s.delta,
  });
}

export function isSame(a: Float32Array, b: Float32Array): boolean {
  const bytes = (array: Float32Array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  return bytes(a).equals(bytes(b));
}
