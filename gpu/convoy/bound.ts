import type { Bindings, BoundRange, Kernel } from '../device/kernel.js';
import type { Place } from '../device/place.js';
import type { Launch } from '../device/recording.js';
import { SLOT_BYTES, UNIFORM_BYTES } from './address.js';

/** Dispatches that can be merged into one: of one kernel, over the same buffers. */
export interface Mergeable {
  readonly key: number;
  /** equal for dispatches that can share a bind group */
  readonly group: string;
  /** the buffer of dispatch sizes, and the byte at which its binding begins */
  readonly sizes: { readonly buffer: GPUBuffer; readonly offset: number };
}

/** A dispatch of a scene, with what a dispatch of many scenes needs to know of it. */
export interface Bound extends Mergeable {
  readonly launch: Launch;
  /** the words of the scene's place behind its size: where each of its buffers begins, in elements (address.ts) */
  readonly elements: Uint32Array;
}

/** What dispatches with the same bindings have in common, as long as no place moves. */
interface Known {
  /** the numbers of the bound buffers, as one text */
  readonly buffers: string;
  readonly elements: Uint32Array;
  readonly mergeable: Map<Kernel, Map<GPUBuffer, Mergeable>>;
}

/**
 * Looks up the buffers that dispatches bind. A scene records the same dispatches step after step, so what does not
 * change between them is found once.
 */
export class BoundDispatches {
  /** replaces the buffer of dispatch sizes if the host knows the sizes */
  readonly #noSizes: GPUBuffer;
  readonly #numbers = new WeakMap<GPUBuffer, number>();
  #count = 0;
  #known = new WeakMap<Bindings, Known>();
  readonly #keys = new Map<string, number>();

  constructor(noSizes: GPUBuffer) {
    this.#noSizes = noSizes;
  }

  /** @throws Error if the places of the scene cannot be addressed */
  of(launch: Launch): Bound {
    const { kernel, bindings, size } = launch;
    let known = this.#known.get(bindings);
    if (!known) {
      const { ranges } = bindings;
      known = { buffers: this.#textOf(ranges), elements: elementsOf(kernel, ranges), mergeable: new Map() };
      this.#known.set(bindings, known);
    }
    const buffer = 'place' in size ? size.place.buffer : this.#noSizes;
    const noted = known.mergeable.get(kernel)?.get(buffer);
    const offset = 'place' in size ? windowOf(kernel, size.place) : 0;
    const { key, group, sizes } =
      noted?.sizes.offset === offset ? noted : this.#note(known, kernel, { buffer, offset });
    return { launch, key, group, sizes, elements: known.elements };
  }

  /** Called when places have moved. */
  forget(): void {
    this.#known = new WeakMap();
    this.#keys.clear();
  }

  #note({ buffers, mergeable }: Known, kernel: Kernel, sizes: Mergeable['sizes']): Mergeable {
    const { buffer, offset } = sizes;
    const bound = `${buffers} ${this.#numberOf(buffer)} ${offset}`;
    const text = `${kernel.entryPoint} ${bound}`;
    const key = this.#keys.get(text) ?? this.#keys.size;
    this.#keys.set(text, key);
    const noted = { key, group: `${kernel.file} ${bound}`, sizes };
    mergeable.set(kernel, (mergeable.get(kernel) ?? new Map<GPUBuffer, Mergeable>()).set(buffer, noted));
    return noted;
  }

  #textOf(ranges: readonly BoundRange[]): string {
    return ranges.map(({ buffer }) => this.#numberOf(buffer)).join();
  }

  #numberOf(buffer: GPUBuffer): number {
    const known = this.#numbers.get(buffer);
    if (known !== undefined) return known;
    this.#numbers.set(buffer, this.#count);
    return this.#count++;
  }
}

/**
 * The byte at which the binding of the sizes of a scene's dispatches begins. A uniform binding has
 * {@link UNIFORM_BYTES}, and the sizes of all scenes may take more: then scenes of different windows share no dispatch.
 *
 * A window contains the whole place. A place that crosses the end of a window has one that begins with it. The last
 * window of a buffer ends with its last multiple of {@link SLOT_BYTES}, and so after every place, because places begin
 * and end at such multiples.
 */
function windowOf({ shared }: Kernel, { buffer, offset, size }: Place): number {
  if (shared!.uniforms !== 'uniform') return 0;
  const window = UNIFORM_BYTES * Math.floor(offset / UNIFORM_BYTES);
  const last = SLOT_BYTES * Math.floor((buffer.size - UNIFORM_BYTES) / SLOT_BYTES);
  return Math.min(offset + size > window + UNIFORM_BYTES ? offset : window, last);
}

function elementsOf({ shared }: Kernel, ranges: readonly BoundRange[]): Uint32Array {
  return Uint32Array.from(ranges, ({ offset = 0 }, n) => {
    const { name, stride, type } = shared!.bindings[n]!;
    const element = offset / stride;
    if (!Number.isInteger(element)) throw new Error(`The place of ${name} begins within an element.`);
    if (type === 'uniform' && offset + stride > UNIFORM_BYTES)
      throw new Error(`The place of ${name} lies behind the end of its binding.`);
    return element;
  });
}
