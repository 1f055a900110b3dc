import { DISPATCH_BYTES } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import type { Launch } from '../device/recording.js';
import { MOST_SCENES, type SharedBinding, UNIFORM_BYTES } from './address.js';
import { mergeSequences } from './merge.js';

/** Bytes: every implementation allows dynamic uniform offsets that are multiples of this. */
const OFFSET_BYTES = 256;
const WORD = 4;

/**
 * Usual number of workgroups of a dispatch over all its scenes: enough to fill a device. If a scene has more, its
 * workgroups take several turns, and those that find no work cost little on hardware; a processor runs them one after
 * the other.
 */
const GROUPS = { software: 64, hardware: 2048 };

/** Encodes dispatches of several scenes, and merges those that can be one dispatch. */
export class DispatchEncoder {
  /** dispatches encoded so far, and the number of dispatches of scenes that they contain */
  dispatches = 0;
  launches = 0;
  readonly #memory: DeviceMemory;
  readonly #groups: number;
  /** replaces the buffer of dispatch sizes if the host knows the sizes */
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

  /**
   * The plan that {@link encode} encodes. It refers to buffers, so it must be encoded before the next await, unless
   * there is no room for it yet.
   *
   * @param sequences the dispatches of each scene @throws Error if a scene's places cannot be addressed
   */
  plan(sequences: readonly (readonly Launch[])[]): EncodePlan {
    const bound = sequences.map((launches) => launches.map((one) => ({ ...one, buffers: this.#buffersOf(one) })));
    // Dispatches of the same kernel over the same buffers can be one.
    const merged = mergeSequences(bound, ({ kernel, buffers }) => `${kernel.entryPoint} ${buffers}`);
    const offsets: number[] = [];
    let bytes = 0;
    for (const [{ kernel }] of merged as Joined[]) {
      offsets.push(bytes);
      bytes += Math.ceil((kernel.shared!.placeBytes * MOST_SCENES) / OFFSET_BYTES) * OFFSET_BYTES;
    }
    const words = new Uint32Array(bytes / WORD);
    merged.forEach((launches, n) => {
      launches.forEach((launch, scene) => {
        writePlace(words, offsets[n]! / WORD, scene, launch);
      });
    });
    return { merged: merged as Joined[], offsets, words };
  }

  /**
   * Makes room for the places of what was planned.
   *
   * @returns undefined = there is room
   * @throws OUT_OF_DEVICE_MEMORY; the previous room then remains
   */
  reserve({ words }: EncodePlan): Promise<void> | undefined {
    return words.byteLength <= (this.#places?.size ?? 0) ? undefined : this.#grow(words.byteLength);
  }

  /** @throws Error if {@link reserve} has not reported that there is room */
  encode(encoder: GPUCommandEncoder, { merged, offsets, words }: EncodePlan): void {
    if (merged.length === 0) return;
    const places = this.#places;
    if (!places || places.size < words.byteLength)
      throw new Error('Dispatches are encoded for which there is no room.');
    this.#memory.device.queue.writeBuffer(places, 0, words);
    const pass = encoder.beginComputePass();
    let last: GPUComputePipeline | undefined;
    merged.forEach((launches, n) => {
      const [{ kernel }] = launches;
      if (last !== kernel.pipeline) pass.setPipeline(kernel.pipeline);
      last = kernel.pipeline;
      pass.setBindGroup(0, this.#bindGroupOf(launches[0], places), [offsets[n]!]);
      const most = launches.reduce((sum, launch) => Math.max(sum, launch.most), 1);
      const groups = Math.min(most, Math.max(1, Math.floor(this.#groups / launches.length)));
      pass.dispatchWorkgroups(groups, 1, launches.length);
      this.launches += launches.length;
    });
    this.dispatches += merged.length;
    pass.end();
  }

  /** Called when buffers that scenes bind were freed: bind groups would keep them alive. */
  forget(): void {
    this.#bindGroups.clear();
  }

  close(): void {
    this.forget();
    this.#memory.free(this.#noSizes);
    if (this.#places) this.#memory.free(this.#places);
  }

  async #grow(bytes: number): Promise<void> {
    const { UNIFORM, COPY_DST } = BUFFER_USAGE;
    const places = await this.#memory.obtain('places of scenes', 2 * bytes, UNIFORM | COPY_DST);
    if (this.#places) this.#memory.free(this.#places);
    this.#places = places;
    this.#bindGroups.clear();
  }

  /** The numbers of the buffers that a dispatch binds, as one text. */
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

/** Dispatches of several scenes that are merged into one. */
type Joined = [Bound, ...Bound[]];

export interface EncodePlan {
  readonly merged: readonly Joined[];
  /** byte offsets of the places of each merged dispatch */
  readonly offsets: readonly number[];
  /** the places of the scenes of all merged dispatches */
  readonly words: Uint32Array<ArrayBuffer>;
}

/** A buffer of the arena has room for a uniform of full size (arena.ts). */
const bindingOf = (buffer: GPUBuffer, type: SharedBinding['type']): GPUBufferBinding =>
  type === 'uniform' ? { buffer, size: UNIFORM_BYTES } : { buffer };

/** Where a scene's buffers begin, in elements, and how many workgroups its own dispatch would have (address.ts). */
function writePlace(words: Uint32Array, first: number, scene: number, { kernel, bindings, size }: Launch): void {
  const { placeBytes, bindings: bound, uniforms } = kernel.shared!;
  const at = first + (scene * placeBytes) / WORD;
  if ('place' in size) {
    const offset = size.place.offset + size.offset;
    // A read beyond it would give the size of another scene's dispatch.
    if (uniforms === 'uniform' && offset + DISPATCH_BYTES > UNIFORM_BYTES)
      throw new Error('The size of a dispatch lies behind the end of its binding.');
    words.set([0, 0, offset / WORD, 1], at);
  } else words.set(size, at);
  bindings.ranges.forEach(({ offset = 0 }, n) => {
    const element = offset / bound[n]!.stride;
    if (!Number.isInteger(element)) throw new Error(`The place of ${bound[n]!.name} begins within an element.`);
    if (bound[n]!.type === 'uniform' && offset + bound[n]!.stride > UNIFORM_BYTES)
      throw new Error(`The place of ${bound[n]!.name} lies behind the end of its binding.`);
    words[at + 4 + n] = element;
  });
}
