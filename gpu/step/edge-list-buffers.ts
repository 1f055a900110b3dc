import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import { OwnedPlaces } from '../device/owned-places.js';
import { type Place, write } from '../device/place.js';
import type { EdgePlan } from './edge-plan.js';

const { STORAGE, COPY_DST } = BUFFER_USAGE;

/**
 * The buffers that sweeps over listed edges need besides those of a step, by the names that the kernels use: edgesAt
 * uint32, where the edges of each vertex begin, and the edges; edgeLists uint32, initially all 0.
 * gpu/kernels/listed/edge-lists.wgsl describes the layout.
 */
export class EdgeListBuffers {
  readonly edgesAt: Place;
  readonly edgeLists: Place;
  readonly #places: OwnedPlaces;

  constructor(memory: DeviceMemory, vertexCount: number, { ends, count, colours }: EdgePlan) {
    this.#places = new OwnedPlaces(memory);
    const at = edgesByVertex(vertexCount, ends);
    this.edgesAt = this.#places.add('edgesAt', at.byteLength, STORAGE | COPY_DST);
    write(memory.device.queue, this.edgesAt, 0, at);
    const words = 3 + colours.length - 1 + 2 * count + 2 * vertexCount;
    this.edgeLists = this.#places.add('edgeLists', 4 * words, STORAGE | COPY_DST);
    // Memory that another scene used before may contain anything.
    write(memory.device.queue, this.edgeLists, 0, new Uint32Array(words));
  }

  named(name: string): Place | undefined {
    const buffer = (this as unknown as Record<string, unknown>)[name] as Place;
    return this.#places.has(buffer) ? buffer : undefined;
  }

  close(): void {
    this.#places.close();
  }
}

/** The first edge of each vertex and an end, uint32[V + 1], then the edges by vertex. @param ends uint32[2·E] */
export function edgesByVertex(vertexCount: number, ends: Uint32Array): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(vertexCount + 1 + ends.length);
  const first = words.subarray(0, vertexCount + 1);
  for (const v of ends) first[v + 1]!++;
  for (let v = 0; v < vertexCount; v++) first[v + 1]! += first[v]!;
  const next = Uint32Array.from(first);
  ends.forEach((v, k) => {
    words[vertexCount + 1 + next[v]!++] = k >> 1;
  });
  return words;
}
