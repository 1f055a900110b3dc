import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import type { Launch } from '../device/recording.js';
import { MOST_SCENES, type SharedBinding, UNIFORM_BYTES } from './address.js';
import { mergeSequences } from './merge.js';

/** Bytes: the multiple at which every implementation lets a dynamic uniform offset be. */
const OFFSET_BYTES = 256;
const WORD = 4;

/**
 * Workgroups of a dispatch over all its scenes, as a rule: enough to fill a device. A scene with more takes them in turns, and those that
 * find nothing to do cost little on hardware; a processor runs them one after the other.
 */
const GROUPS = { software: 64, hardware: 2048 };

/** Encodes dispatches of several scenes, those that can be one dispatch as one. */
export class DispatchEncoder {
  /** dispatches encoded so far, and those of scenes that they stand for */
  dispatches = 0;
  launches = 0;
  readonly #memory: DeviceMemory;
  readonly #groups: number;
  /** stands in for the sizes of dispatches whose sizes the host knows */
  readonly #noSizes: GPUBuffer;
  /** the places of the scenes of every dispatch of a submission */
  #places: GPUBuffer | undefined;
  readonly #numbers = new WeakMap<object, number>();
  #count = 0;
  /** bind groups by kernel file and buffers */
  readonly #bindGroups = new Map<string, GPUBindGroup>();

  constructor(memory: DeviceMemory, isSoftware: boolean) {
    this.#memory = memory;
    this.#groups = isSoftware ? GROUPS.software : GROUPS.hardware;
    this.#noSizes = memory.allocate('no sizes', 16, BUFFER_USAGE.STORAGE);
  }

  /** @param sequences the dispatches of each scene */
  encode(encoder: GPUCommandEncoder, sequences: readonly (readonly Launch[])[]): void {
    const bound = sequences.map((launches) => launches.map((one) => ({ ...one, buffers: this.#buffersOf(one) })));
    // Dispatches of the same kernel over the same buffers can be one.
    const merged = mergeSequences(bound, ({ kernel, buffers }) => `${kernel.entryPoint} ${buffers}`);
    if (merged.length === 0) return;
    const offsets: number[] = [];
    let bytes = 0;
    for (const [{ kernel }] of merged as [Bound, ...Bound[]][]) {
      offsets.push(bytes);
      bytes += Math.ceil((kernel.shared!.placeBytes * MOST_SCENES) / OFFSET_BYTES) * OFFSET_BYTES;
    }
    const places = this.#reserve(bytes);
    const words = new Uint32Array(bytes / WORD);
    merged.forEach((launches, n) => {
      launches.forEach((launch, scene) => {
        writePlace(words, offsets[n]! / WORD, scene, launch);
      });
    });
    this.#memory.device.queue.writeBuffer(places, 0, words);
    const pass = encoder.beginComputePass();
    let last: GPUComputePipeline | undefined;
    merged.forEach((launches, n) => {
      const [{ kernel }] = launches as [Bound, ...Bound[]];
      if (last !== kernel.pipeline) pass.setPipeline(kernel.pipeline);
      last = kernel.pipeline;
      pass.setBindGroup(0, this.#bindGroupOf(launches[0]!, places), [offsets[n]!]);
      const most = launches.reduce((sum, launch) => Math.max(sum, launch.most), 1);
      const groups = Math.min(most, Math.max(1, Math.floor(this.#groups / launches.length)));
      pass.dispatchWorkgroups(groups, 1, launches.length);
      this.launches += launches.length;
    });
    this.dispatches += merged.length;
    pass.end();
  }

  /** Buffers that scenes bind were freed: what binds them would keep them alive. */
  forget(): void {
    this.#bindGroups.clear();
  }

  close(): void {
    this.forget();
    this.#memory.free(this.#noSizes);
    if (this.#places) this.#memory.free(this.#places);
  }

  #reserve(bytes: number): GPUBuffer {
    if (this.#places && this.#places.size >= bytes) return this.#places;
    if (this.#places) this.#memory.free(this.#places);
    this.#bindGroups.clear();
    const { UNIFORM, COPY_DST } = BUFFER_USAGE;
    this.#places = this.#memory.allocate('places of scenes', 2 * bytes, UNIFORM | COPY_DST);
    return this.#places;
  }

  /** The numbers of what a dispatch binds, as one text. */
  #buffersOf({ bindings, size }: Launch): string {
    const numbers = bindings.ranges.map(({ buffer }) => this.#numberOf(buffer));
    return [...numbers, this.#numberOf(this.#sizesOf(size))].join();
  }

  #sizesOf(size: Launch['size']): GPUBuffer {
    return 'place' in size ? size.place.buffer : this.#noSizes;
  }

  #bindGroupOf({ kernel, bindings, size, buffers }: Bound, places: GPUBuffer): GPUBindGroup {
    const key = `${kernel.file} ${buffers}`;
    const known = this.#bindGroups.get(key);
    if (known) return known;
    const shared = kernel.shared!;
    const group = kernel.groupOf(
      bindings.ranges.map(({ buffer }, n) => bindingOf(buffer, shared.bindings[n]!.type)),
      [
        { binding: shared.places, resource: { buffer: places, size: shared.placeBytes * MOST_SCENES } },
        { binding: shared.sizes, resource: bindingOf(this.#sizesOf(size), shared.uniforms) },
      ],
    );
    this.#bindGroups.set(key, group);
    return group;
  }

  #numberOf(buffer: GPUBuffer): number {
    const known = this.#numbers.get(buffer);
    if (known !== undefined) return known;
    this.#numbers.set(buffer, this.#count);
    return this.#count++;
  }
}

/** A dispatch of one scene with the numbers of the buffers that it binds. */
type Bound = Launch & { readonly buffers: string };

/** A buffer of the arena has room for a uniform of full size (arena.ts). */
const bindingOf = (buffer: GPUBuffer, type: SharedBinding['type']): GPUBufferBinding =>
  type === 'uniform' ? { buffer, size: UNIFORM_BYTES } : { buffer };

/** Where a scene's buffers begin, in elements, and how many workgroups its own dispatch would have (address.ts). */
function writePlace(words: Uint32Array, first: number, scene: number, { kernel, bindings, size }: Launch): void {
  const { placeBytes, bindings: bound } = kernel.shared!;
  const at = first + (scene * placeBytes) / WORD;
  if ('place' in size) words.set([0, 0, (size.place.offset + size.offset) / WORD, 1], at);
  else words.set(size, at);
  bindings.ranges.forEach(({ offset = 0 }, n) => {
    const element = offset / bound[n]!.stride;
    if (!Number.isInteger(element)) throw new Error(`The place of ${bound[n]!.name} begins within an element.`);
    if (bound[n]!.type === 'uniform' && offset + bound[n]!.stride > UNIFORM_BYTES)
      throw new Error(`The place of ${bound[n]!.name} lies behind the end of its binding.`);
    words[at + 4 + n] = element;
  });
}
