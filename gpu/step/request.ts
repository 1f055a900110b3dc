import type { CollisionMesh } from '../../src/mesh/types.js';
import { arrivedWithin } from '../../src/solver/arrival.js';
import { distancesByVertex } from '../../src/solver/part-distances.js';
import type { Settings } from '../../src/solver/settings.js';
import { PARAMETERS } from '../kernels/structs.js';
import type { EdgePlan } from './edge-plan.js';
import type { SceneBuffers } from './scene-buffers.js';

/** Bytes of a vertex's position. */
const POSITION_BYTES = 12;

/**
 * With more contacts than this, rounds of whole dispatches pay off before one workgroup sweeps the rest: a round costs two
 * dispatches, and one workgroup of 256 threads sweeps so many contacts in 64 turns.
 */
export const TAIL_ROWS = 16384;

/** float32[3·V] each, in engine coordinates. */
export interface RequestPositions {
  readonly start: Float32Array;
  readonly target: Float32Array;
  /** x on the device holds the start already, bit for bit */
  readonly isResident: boolean;
}

/** Uploads start and target; the copies to x, y and windowStart are recorded and run with `encoder`. */
export function uploadPositions(
  queue: GPUQueue,
  encoder: GPUCommandEncoder,
  buffers: SceneBuffers,
  { start, target, isResident }: RequestPositions,
): void {
  const bytes = (POSITION_BYTES * start.length) / 3;
  if (isResident) {
    encoder.copyBufferToBuffer(buffers.x, 0, buffers.start, 0, bytes);
  } else {
    queue.writeBuffer(buffers.start, 0, inOwnMemory(start));
    encoder.copyBufferToBuffer(buffers.start, 0, buffers.x, 0, bytes);
  }
  queue.writeBuffer(buffers.target, 0, inOwnMemory(target));
  encoder.copyBufferToBuffer(buffers.target, 0, buffers.y, 0, bytes);
  encoder.copyBufferToBuffer(buffers.start, 0, buffers.windowStart, 0, bytes);
}

/** A queue does not accept shared memory. */
function inOwnMemory(array: Float32Array): Float32Array<ArrayBuffer> {
  return array.buffer instanceof ArrayBuffer ? (array as Float32Array<ArrayBuffer>) : Float32Array.from(array);
}

/**
 * Uploads the parameter block of a request, and the δ of each vertex where parts have one of their own.
 *
 * @param start float32[3·V], for the largest coordinate X
 * @param waitsForSearch whether the run pauses for each search
 */
export function uploadParameters(
  queue: GPUQueue,
  buffers: SceneBuffers,
  mesh: CollisionMesh,
  settings: Settings,
  edges: EdgePlan,
  { start, waitsForSearch }: { readonly start: Float32Array; readonly waitsForSearch: boolean },
): void {
  const s = settings;
  const distances = distancesByVertex(mesh, settings);
  if (distances) queue.writeBuffer(buffers.start, POSITION_BYTES * mesh.vertexCount, Float32Array.from(distances));
  const packed = PARAMETERS.pack({
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
    arrivedWithin: arrivedWithin(start, s.floor),
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
  queue.writeBuffer(buffers.parameters, 0, packed);
}
