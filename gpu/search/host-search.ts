import type { LeftOutPairs } from '../../src/mesh/left-out-pairs.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { Proximity } from '../../src/solver/cpu/proximity.js';
import { Workspace } from '../../src/solver/cpu/workspace.js';
import type { Settings } from '../../src/solver/settings.js';
import { sliceOf, write } from '../device/place.js';
import type { Reader } from '../device/readback.js';
import { toThrees, VECTOR_BYTES } from '../device/vectors.js';
import type { SceneBuffers } from '../step/scene-buffers.js';

/** The state on the device at which the host searches. */
interface SearchInput {
  /** float32[3·V] */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** uint32[V] 1 = needs a new box; undefined = all do */
  readonly wanted: Uint32Array | undefined;
}

/** Runs the reference engine's search for a run of the device that has paused, and uploads pairs and boxes. */
export class HostSearch {
  readonly #proximity: Proximity;
  readonly #vertexCount: number;

  /** @param pairLimit pairs that a scene may hold */
  constructor(mesh: CollisionMesh, settings: Settings, pairLimit: number) {
    this.#proximity = new Proximity(mesh, settings, new Workspace(pairLimit));
    this.#vertexCount = mesh.vertexCount;
  }

  /** @returns whether P is still valid for this list of excluded pairs */
  beginRequest(excluded: LeftOutPairs | undefined): boolean {
    this.#proximity.beginRequest(excluded);
    return this.#proximity.isValid;
  }

  /**
   * Searches at the x on the device towards its y, and replaces P and the boxes there.
   *
   * @param isPart whether only the vertices that the device has marked get new boxes
   * @returns the number of pairs
   * @throws TOO_LARGE if P does not fit
   */
  async searchAt(device: GPUDevice, buffers: SceneBuffers, reader: Reader, isPart: boolean): Promise<number> {
    const reading = await reader.read([
      sliceOf(buffers.x, 12 * this.#vertexCount),
      sliceOf(buffers.y, VECTOR_BYTES * this.#vertexCount),
      sliceOf(buffers.wanted, 4 * this.#vertexCount),
    ]);
    const [x, y, wanted] = await reading.wait();
    return this.#renew(device, buffers, {
      x: new Float32Array(x),
      y: toThrees(new Float32Array(y)),
      wanted: isPart ? new Uint32Array(wanted) : undefined,
    });
  }

  #renew(device: GPUDevice, buffers: SceneBuffers, { x, y, wanted }: SearchInput): number {
    const proximity = this.#proximity;
    proximity.renew(x, y, wanted === undefined ? undefined : Uint8Array.from(wanted));
    const { pairs, boxes } = proximity;
    const { count } = pairs;
    if (count > buffers.pairCapacity) buffers.reservePairs(Math.ceil(1.25 * count));
    const normal = new Float32Array(4 * count);
    // δ_p stays 0: the device measures it again from the request's start, to the same value.
    for (let p = 0; p < count; p++) for (let c = 0; c < 3; c++) normal[4 * p + c] = pairs.normal[3 * p + c];
    const { queue } = device;
    write(queue, buffers.pairVertex, 0, pairs.vertex.slice(0, 4 * count));
    write(queue, buffers.pairInfo, 0, Uint32Array.from(pairs.kind.subarray(0, count)));
    write(queue, buffers.pairNormal, 0, normal);
    write(queue, buffers.box, 0, Float32Array.from(boxes.box));
    return count;
  }
}
