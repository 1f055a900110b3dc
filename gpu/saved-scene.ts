import type { LeftOutPairs } from '../src/mesh/left-out-pairs.js';
import type { SavedDeviceScene } from '../src/solver/saved-scene.js';
import type { DeviceMemory } from './device/memory.js';
import { inOwnMemory, type Place, sliceOf, write } from './device/place.js';
import { Reader } from './device/readback.js';
import type { SceneBuffers } from './step/scene-buffers.js';

/** The host's data of a scene between two resolves. */
export interface HostPart {
  /** float32[3·V] */
  readonly orderedAt: Float32Array;
  readonly excluded: LeftOutPairs | undefined;
  readonly vertexCount: number;
  /** undefined = P is invalid */
  readonly pairs: { readonly count: number; readonly radius: number } | undefined;
}

/**
 * Reads the data from which a scene on the device continues. The arrays are new.
 *
 * @throws OUT_OF_DEVICE_MEMORY if there is no room for copies of one array at a time; the scene remains usable
 */
export async function readScene(
  memory: DeviceMemory,
  buffers: SceneBuffers,
  host: HostPart,
): Promise<SavedDeviceScene> {
  const { vertexCount, excluded, orderedAt } = host;
  const { pairCapacity, candidateCapacity } = buffers;
  const known = { orderedAt: orderedAt.slice(), excluded: excluded?.items, pairCapacity, candidateCapacity };
  if (!host.pairs) return { ...known, pairs: undefined };
  const { count, radius } = host.pairs;
  const read = (place: Place, bytes: number) => readPlace(memory, place, bytes);
  return {
    ...known,
    pairs: {
      radius,
      vertex: new Int32Array(await read(buffers.pairVertex, 16 * count)),
      info: new Uint32Array(await read(buffers.pairInfo, 4 * count)),
      normal: new Float32Array(await read(buffers.pairNormal, 16 * count)),
      distance: new Float32Array(await read(buffers.pairDistance, 4 * count)),
      box: new Float32Array(await read(buffers.box, 24 * vertexCount)),
    },
  };
}

/**
 * Uploads the part of P that {@link readScene} has read. The buffers have room for as many pairs as the original ones.
 */
export function writePairs(
  { queue }: GPUDevice,
  buffers: SceneBuffers,
  pairs: NonNullable<SavedDeviceScene['pairs']>,
): void {
  write(queue, buffers.pairVertex, 0, inOwnMemory(pairs.vertex));
  write(queue, buffers.pairInfo, 0, inOwnMemory(pairs.info));
  write(queue, buffers.pairNormal, 0, inOwnMemory(pairs.normal));
  write(queue, buffers.pairDistance, 0, inOwnMemory(pairs.distance));
  write(queue, buffers.box, 0, inOwnMemory(pairs.box));
}

/**
 * Reads through memory that is freed at once, because a scene is rarely read, and its largest array is as large as a
 * buffer may be.
 */
async function readPlace(memory: DeviceMemory, place: Place, bytes: number): Promise<ArrayBuffer> {
  if (bytes === 0) return new ArrayBuffer(0);
  const reader = new Reader(memory);
  try {
    const reading = await reader.read([sliceOf(place, bytes)]);
    const [content] = await reading.wait();
    return content!;
  } finally {
    reader.close();
  }
}
