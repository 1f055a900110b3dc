import type { CollisionMesh } from '../../src/mesh/types.js';
import { distancesByVertex } from '../../src/solver/part-distances.js';
import type { Settings } from '../../src/solver/settings.js';
import type { EdgePlan } from './edge-plan.js';
import { packParameters } from './request.js';
import type { SceneBuffers } from './scene-buffers.js';

/** Bytes of a vertex's position. */
const POSITION_BYTES = 12;

/** float32[3·V] each, in engine coordinates. */
export interface RequestState {
  readonly start: Float32Array;
  readonly target: Float32Array;
  /** x on the device holds the start already, bit for bit */
  readonly isResident: boolean;
}

/** Puts a request's start and target where the steps expect them; the copies are recorded, and run with `encoder`. */
export function uploadRequest(
  queue: GPUQueue,
  encoder: GPUCommandEncoder,
  buffers: SceneBuffers,
  { start, target, isResident }: RequestState,
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

/** The queue takes no shared memory. */
function inOwnMemory(array: Float32Array): Float32Array<ArrayBuffer> {
  return array.buffer instanceof ArrayBuffer ? (array as Float32Array<ArrayBuffer>) : Float32Array.from(array);
}

/** Writes the parameter block, and the δ of each vertex where parts have one of their own. */
export function uploadParameters(
  queue: GPUQueue,
  buffers: SceneBuffers,
  mesh: CollisionMesh,
  settings: Settings,
  edges: EdgePlan,
  { start, isHost }: { readonly start: Float32Array; readonly isHost: boolean },
): void {
  const distances = distancesByVertex(mesh, settings);
  if (distances) queue.writeBuffer(buffers.start, POSITION_BYTES * mesh.vertexCount, Float32Array.from(distances));
  queue.writeBuffer(buffers.parameters, 0, packParameters(mesh, settings, edges, start, isHost));
}
