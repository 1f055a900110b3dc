import type { CollisionMesh } from '../../src/mesh/types.js';
import { DISPATCH_BYTES, type Dispatch, foldThreads, recordDispatch, UNIFORM_STRIDE } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { wholeOf } from '../device/place.js';
import { FILTER_COUNTS, FILTER_LEVEL, FILTER_WALK } from '../kernels/structs.js';
import type { FilterLayout } from './layout.js';

const { STORAGE, UNIFORM, INDIRECT, COPY_SRC, COPY_DST } = BUFFER_USAGE;

export const PAIR_BYTES = 8;

export interface FilterRequest {
  readonly slack: number;
  /** returned in the counts */
  readonly stamp: number;
  /** computes the boxes of the uploaded positions first */
  readonly withBoxes: boolean;
}

/** The device memory of one mesh's filter, and its dispatches (gpu/kernels/filter). */
export class FilterBuffers {
  /** FilterCounts */
  readonly counts: GPUBuffer;
  /** uint32[2·capacity] edge and triangle, by slot, of each pair that the filter cannot decide */
  doubtful!: GPUBuffer;
  capacity = 0;
  readonly #memory: DeviceMemory;
  readonly #kernels: KernelSet;
  readonly #layout: FilterLayout;
  readonly #x: GPUBuffer;
  readonly #walk: GPUBuffer;
  readonly #named: Record<string, GPUBuffer>;
  readonly #boxes: Dispatch[];
  #walking: Dispatch | undefined;
  readonly #edgeGroups: GPUBuffer;

  /** @throws TOO_LARGE, OUT_OF_DEVICE_MEMORY; what was allocated before is freed with the account */
  constructor(memory: DeviceMemory, kernels: KernelSet, mesh: CollisionMesh, layout: FilterLayout, capacity: number) {
    this.#memory = memory;
    this.#kernels = kernels;
    this.#layout = layout;
    const { leaves, triangleCount, edgeCount } = layout;
    this.#x = memory.allocate('filter positions', 12 * mesh.vertexCount, STORAGE | COPY_DST);
    this.#walk = memory.allocate('filter walk', FILTER_WALK.bytes, UNIFORM | COPY_DST);
    this.counts = memory.allocate('filter counts', FILTER_COUNTS.bytes, STORAGE | COPY_SRC | COPY_DST);
    this.#named = {
      x: this.#x,
      edges: this.#upload('filter edges', layout.edges, STORAGE),
      triangles: this.#upload('filter triangles', layout.triangles, STORAGE),
      parts: this.#upload('filter parts', layout.parts, STORAGE),
      tree: memory.allocate('filter tree', 32 * (2 * leaves + triangleCount), STORAGE),
    };
    this.#edgeGroups = this.#upload('filter sizes', Uint32Array.from(foldThreads(edgeCount)), INDIRECT);
    this.#boxes = this.#planBoxes();
    this.reserve(capacity);
  }

  /** Replaces the list of doubtful pairs by a larger one. */
  reserve(capacity: number): void {
    if (capacity <= this.capacity) return;
    if (this.doubtful) this.#memory.free(this.doubtful);
    this.capacity = 0;
    this.doubtful = this.#memory.allocate('filter doubtful pairs', PAIR_BYTES * capacity, STORAGE | COPY_SRC);
    this.capacity = capacity;
    const kernel = this.#kernels.get('walkEdges');
    const bindings = kernel.bindings({
      ...this.#named,
      walk: this.#walk,
      counts: this.counts,
      doubtful: this.doubtful,
    });
    this.#walking = { kernel, bindings, size: { place: wholeOf(this.#edgeGroups), offset: 0 }, most: 1 };
  }

  upload(values: Float32Array<ArrayBuffer>): void {
    this.#memory.device.queue.writeBuffer(this.#x, 0, values);
  }

  /** Records a search of the uploaded positions. */
  record(encoder: GPUCommandEncoder, { slack, stamp, withBoxes }: FilterRequest): void {
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
    this.#memory.device.queue.writeBuffer(this.#walk, 0, walk, 0, FILTER_WALK.bytes);
    encoder.clearBuffer(this.counts);
    const pass = encoder.beginComputePass();
    if (withBoxes) for (const dispatch of this.#boxes) recordDispatch(pass, dispatch);
    if (this.#walking) recordDispatch(pass, this.#walking);
    pass.end();
  }

  /** One dispatch for the boxes of the triangles, then one for each level of the tree, leaves first. */
  #planBoxes(): Dispatch[] {
    const { triangleCount, leaves } = this.#layout;
    const widths: number[] = [];
    for (let width = leaves; width >= 1; width /= 2) widths.push(width);
    const uniforms = new Uint8Array(UNIFORM_STRIDE * (1 + widths.length));
    const sizes = new Uint32Array(3 * (1 + widths.length));
    [triangleCount, ...widths].forEach((threads, n) => {
      const level = { triangles: triangleCount, leaves, width: threads, isLeaf: n === 1 ? 1 : 0 };
      uniforms.set(new Uint8Array(FILTER_LEVEL.pack(level)), UNIFORM_STRIDE * n);
      sizes.set(foldThreads(threads), 3 * n);
    });
    const levels = this.#upload('filter levels', uniforms, UNIFORM);
    const groups = this.#upload('filter sizes', sizes, INDIRECT);
    const joinBoxes = this.#kernels.get('joinBoxes');
    return [this.#kernels.get('boxTriangles'), ...widths.map(() => joinBoxes)].map((kernel, n) => ({
      kernel,
      bindings: kernel.bindings({
        ...this.#named,
        level: { buffer: levels, offset: UNIFORM_STRIDE * n, size: FILTER_LEVEL.bytes },
      }),
      size: { place: wholeOf(groups), offset: DISPATCH_BYTES * n },
      most: 1,
    }));
  }

  #upload(label: string, words: Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>, usage: number): GPUBuffer {
    const buffer = this.#memory.allocate(label, words.byteLength, usage | COPY_DST);
    this.#memory.device.queue.writeBuffer(buffer, 0, words);
    return buffer;
  }
}
