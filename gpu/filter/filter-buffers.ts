import type { CollisionMesh } from '../../src/mesh/types.js';
import { foldThreads, launch, UNIFORM_STRIDE } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { type Place, partOf, write } from '../device/place.js';
import type { Launch, Recording } from '../device/recording.js';
import { FILTER_COUNTS, FILTER_LEVEL, FILTER_WALK } from '../kernels/structs.js';
import type { EntryPoint } from '../kernels/table.js';
import type { FilterLayout } from './layout.js';

const { STORAGE, UNIFORM, COPY_SRC, COPY_DST } = BUFFER_USAGE;

export const PAIR_BYTES = 8;

export interface FilterRequest {
  readonly slack: number;
  /** returned in the counts */
  readonly stamp: number;
  /** whether the boxes of the uploaded positions are computed first */
  readonly withBoxes: boolean;
}

/** The device memory of one mesh's filter, and its dispatches (gpu/kernels/filter). */
export class FilterBuffers {
  /** FilterCounts */
  readonly counts: Place;
  /** uint32[2·capacity] edge and triangle, by slot, of each pair that the filter cannot decide */
  doubtful!: Place;
  capacity = 0;
  readonly #memory: DeviceMemory;
  readonly #kernels: KernelSet;
  readonly #layout: FilterLayout;
  readonly #x: Place;
  readonly #walk: Place;
  readonly #named: Record<string, Place>;
  readonly #boxes: Launch[];
  #walking: Launch | undefined;

  /** @throws TOO_LARGE, OUT_OF_DEVICE_MEMORY; buffers allocated before the error are freed with the account */
  constructor(memory: DeviceMemory, kernels: KernelSet, mesh: CollisionMesh, layout: FilterLayout, capacity: number) {
    this.#memory = memory;
    this.#kernels = kernels;
    this.#layout = layout;
    const { leaves, triangleCount } = layout;
    this.#x = memory.place('filter positions', 12 * mesh.vertexCount, STORAGE | COPY_DST);
    this.#walk = memory.place('filter walk', FILTER_WALK.bytes, UNIFORM | COPY_DST);
    this.counts = memory.place('filter counts', FILTER_COUNTS.bytes, STORAGE | COPY_SRC | COPY_DST);
    this.#named = {
      x: this.#x,
      edges: this.#upload('filter edges', layout.edges, STORAGE),
      triangles: this.#upload('filter triangles', layout.triangles, STORAGE),
      parts: this.#upload('filter parts', layout.parts, STORAGE),
      tree: memory.place('filter tree', 32 * (2 * leaves + triangleCount), STORAGE),
    };
    this.#boxes = this.#planBoxes();
    this.reserve(capacity);
  }

  /** Replaces the list of doubtful pairs by a larger one. */
  reserve(capacity: number): void {
    if (capacity <= this.capacity) return;
    if (this.doubtful) this.#memory.release(this.doubtful);
    this.capacity = 0;
    this.doubtful = this.#memory.place('filter doubtful pairs', PAIR_BYTES * capacity, STORAGE | COPY_SRC);
    this.capacity = capacity;
    const { counts, doubtful } = this;
    const resources = { ...this.#named, walk: this.#walk, counts, doubtful };
    this.#walking = this.#launchOf('walkEdges', resources, this.#layout.edgeCount);
  }

  upload(values: Float32Array<ArrayBuffer>): void {
    write(this.#memory.device.queue, this.#x, 0, values);
  }

  /** Records a search of the uploaded positions. */
  record(recording: Recording, { slack, stamp, withBoxes }: FilterRequest): void {
    const { edgeCount, triangleCount, leaves, hasIgnored, partCount } = this.#layout;
    const walk = FILTER_WALK.pack({
      edges: edgeCount,
      triangles: triangleCount,
      leaves,
      capacity: this.capacity,
      slack,
      hasIgnored: hasIgnored ? 1 : 0,
      parts: partCount,
      stamp,
    });
    const { queue } = this.#memory.device;
    write(queue, this.#walk, 0, walk);
    write(queue, this.counts, 0, new Uint8Array(FILTER_COUNTS.bytes));
    const pass = recording.beginComputePass();
    if (withBoxes) for (const one of this.#boxes) launch(pass, one);
    if (this.#walking) launch(pass, this.#walking);
    pass.end();
  }

  /** One dispatch for the boxes of the triangles, then one for each level of the tree, leaves first. */
  #planBoxes(): Launch[] {
    const { triangleCount, leaves } = this.#layout;
    const widths: number[] = [];
    for (let width = leaves; width >= 1; width /= 2) widths.push(width);
    const uniforms = new Uint8Array(UNIFORM_STRIDE * (1 + widths.length));
    [triangleCount, ...widths].forEach((threads, n) => {
      const level = { triangles: triangleCount, leaves, width: threads, isLeaf: n === 1 ? 1 : 0 };
      uniforms.set(new Uint8Array(FILTER_LEVEL.pack(level)), UNIFORM_STRIDE * n);
    });
    const levels = this.#upload('filter levels', uniforms, UNIFORM);
    return [triangleCount, ...widths].map((threads, n) => {
      const level = partOf(levels, UNIFORM_STRIDE * n, FILTER_LEVEL.bytes);
      return this.#launchOf(n === 0 ? 'boxTriangles' : 'joinBoxes', { ...this.#named, level }, threads);
    });
  }

  #launchOf(entry: EntryPoint, resources: Readonly<Record<string, Place>>, threads: number): Launch {
    const kernel = this.#kernels.get(entry);
    const [x, y] = foldThreads(threads);
    return { kernel, bindings: kernel.bindings(resources), size: [x, y], most: x * y };
  }

  #upload(label: string, words: Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>, usage: number): Place {
    const place = this.#memory.place(label, words.byteLength, usage | COPY_DST);
    write(this.#memory.device.queue, place, 0, words);
    return place;
  }
}
