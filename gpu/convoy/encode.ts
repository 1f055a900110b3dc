import { DISPATCH_BYTES } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import type { Launch } from '../device/recording.js';
import { MOST_SCENES, type SharedBinding, UNIFORM_BYTES } from './address.js';
import { type Bound, BoundDispatches } from './bound.js';
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
  /** stands for the buffer of dispatch sizes if the host knows the sizes */
  readonly #noSizes: GPUBuffer;
  readonly #bound: BoundDispatches;
  /** the places of the scenes of every dispatch of a submission */
  #places: GPUBuffer | undefined;
  /** bind groups by kernel file and dispatches that can be merged */
  readonly #bindGroups = new Map<string, GPUBindGroup>();

  constructor(memory: DeviceMemory, isSoftware: boolean) {
    this.#memory = memory;
    this.#groups = isSoftware ? GROUPS.software : GROUPS.hardware;
    this.#noSizes = memory.allocate('no sizes', 16, BUFFER_USAGE.STORAGE);
    this.#bound = new BoundDispatches(this.#noSizes);
  }

  /**
   * The plan that {@link encode} encodes. It refers to buffers, so it must be encoded before the next await, unless
   * there is no room for it yet.
   *
   * @param sequences the dispatches of each scene @throws Error if a scene's places cannot be addressed
   */
  plan(sequences: readonly (readonly Launch[])[]): EncodePlan {
    const bound = sequences.map((launches) => launches.map((one) => this.#bound.of(one)));
    const merged = mergeSequences(bound, ({ key }) => key) as Joined[];
    const offsets: number[] = [];
    let bytes = 0;
    for (const [{ launch }] of merged) {
      offsets.push(bytes);
      bytes += Math.ceil((launch.kernel.shared!.placeBytes * MOST_SCENES) / OFFSET_BYTES) * OFFSET_BYTES;
    }
    const words = new Uint32Array(bytes / WORD);
    merged.forEach((scenes, n) => {
      const stride = scenes[0].launch.kernel.shared!.placeBytes / WORD;
      scenes.forEach((one, scene) => {
        writePlace(words, offsets[n]! / WORD + scene * stride, one);
      });
    });
    return { merged, offsets, words };
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
    merged.forEach((scenes, n) => {
      const { pipeline } = scenes[0].launch.kernel;
      if (last !== pipeline) pass.setPipeline(pipeline);
      last = pipeline;
      pass.setBindGroup(0, this.#bindGroupOf(scenes[0], places), [offsets[n]!]);
      const most = scenes.reduce((sum, { launch }) => Math.max(sum, launch.most), 1);
      const groups = Math.min(most, Math.max(1, Math.floor(this.#groups / scenes.length)));
      pass.dispatchWorkgroups(groups, 1, scenes.length);
      this.launches += scenes.length;
    });
    this.dispatches += merged.length;
    pass.end();
  }

  /** Called when buffers that scenes bind were freed: bind groups would keep them alive, and their places have moved. */
  forget(): void {
    this.#bindGroups.clear();
    this.#bound.forget();
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

  #bindGroupOf({ launch, group, sizes }: Bound, places: GPUBuffer): GPUBindGroup {
    const known = this.#bindGroups.get(group);
    if (known) return known;
    const { kernel, bindings } = launch;
    const shared = kernel.shared!;
    const made = kernel.groupOf(
      bindings.ranges.map(({ buffer }, n) => bindingOf({ buffer }, shared.bindings[n]!.type)),
      [
        { binding: shared.places, resource: { buffer: places, size: shared.placeBytes * MOST_SCENES } },
        { binding: shared.sizes, resource: bindingOf(sizes, shared.uniforms) },
      ],
    );
    this.#bindGroups.set(group, made);
    return made;
  }
}

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
const bindingOf = (range: GPUBufferBinding, type: SharedBinding['type']): GPUBufferBinding =>
  type === 'uniform' ? { ...range, size: UNIFORM_BYTES } : range;

/** Writes how many workgroups a scene's own dispatch would have, and where its buffers begin (address.ts). @param at word */
function writePlace(words: Uint32Array, at: number, { launch, elements, sizes }: Bound): void {
  const { kernel, size } = launch;
  if ('place' in size) {
    const offset = size.place.offset + size.offset - sizes.offset;
    // A read beyond it would give the size of another scene's dispatch.
    if (kernel.shared!.uniforms === 'uniform' && offset + DISPATCH_BYTES > UNIFORM_BYTES)
      throw new Error('The size of a dispatch lies behind the end of its binding.');
    words[at + 2] = offset / WORD;
    words[at + 3] = 1;
  } else {
    words[at] = size[0];
    words[at + 1] = size[1];
  }
  words.set(elements, at + 4);
}
