import { NO_CORNER } from '../../src/mesh/strain.js';
import type { StrainElements } from '../../src/solver/strain/elements.js';
import { UNIFORM_STRIDE } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import { OwnedPlaces } from '../device/owned-places.js';
import { type Place, write } from '../device/place.js';
import { TAIL_EDGES, UNLIMITED } from '../kernels/constants.js';
import { EDGE_RANGE, STRAIN_PROGRESS, STRAIN_SHARES } from '../kernels/structs.js';

const { STORAGE, COPY_SRC, COPY_DST, UNIFORM } = BUFFER_USAGE;
const STATE = STORAGE | COPY_SRC | COPY_DST;

/** Words of struct StrainElement (gpu/kernels/strain/element.wgsl), and where its fields begin. */
const ELEMENT = { words: 24, gradients: 4, limits: 16, component: 20, colour: 21 } as const;
/** Bytes of struct StrainState (strain/state.wgsl): five matrices of three columns of 16 bytes. */
const STATE_BYTES = 5 * 48;

/** Colours that whole dispatches sweep; one workgroup sweeps those after the last of more than TAIL_EDGES elements. */
export function wideColoursOf({ offsets }: Pick<StrainElements, 'offsets'>): number {
  let wide = offsets.length - 1;
  while (wide > 0 && offsets[wide] - offsets[wide - 1] <= TAIL_EDGES) wide--;
  return wide;
}

/**
 * The buffers that the pull-back of a mesh with strain limits needs besides PullBackBuffers, by the names that the
 * kernels of gpu/kernels/strain use. Per element: strainElements struct StrainElement, strainState struct StrainState.
 * Per component: strainShares, strainMembers (where its vertices begin, and the vertices). Per colour and element:
 * strainColours, strainActive, heldStrains. strainRebuilt float32[3V].
 */
export class StrainBuffers {
  readonly strainElements: Place;
  readonly strainState: Place;
  readonly strainShares: Place;
  readonly strainMembers: Place;
  readonly strainColours: Place;
  readonly strainActive: Place;
  readonly heldStrains: Place;
  readonly strainRebuilt: Place;
  readonly strainProgress: Place;
  readonly strainRanges: Place;
  freedEdges!: Place;

  readonly #memory: DeviceMemory;
  readonly #places: OwnedPlaces;
  /** the elements in strainElements */
  #elements: StrainElements | undefined;

  /** @param freedEdges uint32[n] edges without a limit σ L*, by their places in the sweep */
  constructor(memory: DeviceMemory, elements: StrainElements, freedEdges: readonly number[]) {
    this.#memory = memory;
    this.#places = new OwnedPlaces(memory);
    const { count, components, offsets, componentOf } = elements;
    const members = membersOf(elements);
    const colours = offsets.length - 1;
    this.strainElements = this.#places.add('strainElements', 4 * ELEMENT.words * count, STORAGE | COPY_DST);
    this.strainState = this.#places.add('strainState', STATE_BYTES * count, STATE);
    this.strainShares = this.#places.add('strainShares', STRAIN_SHARES.bytes * components, STATE);
    this.strainMembers = this.#places.add('strainMembers', members.byteLength, STORAGE | COPY_DST);
    this.strainColours = this.#places.add('strainColours', offsets.byteLength, STORAGE | COPY_DST);
    this.strainActive = this.#places.add('strainActive', 4 * (colours + count), STATE);
    this.heldStrains = this.#places.add('heldStrains', 4 * (colours + count), STATE);
    this.strainRebuilt = this.#places.add('strainRebuilt', 12 * componentOf.length, STATE);
    this.strainProgress = this.#places.add('strainProgress', STRAIN_PROGRESS.bytes, STATE);
    const ranges = rangesOf(elements);
    this.strainRanges = this.#places.add('strainRanges', ranges.byteLength, UNIFORM | COPY_DST);
    const { queue } = memory.device;
    write(queue, this.strainMembers, 0, members);
    write(queue, this.strainColours, 0, Uint32Array.from(offsets));
    write(queue, this.strainRanges, 0, ranges);
    this.freeEdges(freedEdges);
    this.upload(elements);
  }

  /** Edges are constrained in another order, or no longer. */
  freeEdges(edges: readonly number[]): void {
    if (this.freedEdges) this.#places.drop(this.freedEdges);
    this.freedEdges = this.#places.add('freedEdges', 4 * (edges.length + 1), STORAGE | COPY_DST);
    write(this.#memory.device.queue, this.freedEdges, 0, Uint32Array.from([edges.length, ...edges]));
  }

  /** The same elements, perhaps in another unit. */
  upload(elements: StrainElements): void {
    if (this.#elements === elements) return;
    write(this.#memory.device.queue, this.strainElements, 0, packElements(elements));
    this.#elements = elements;
  }

  named(name: string): Place | undefined {
    const buffer = (this as unknown as Record<string, unknown>)[name] as Place;
    return this.#places.has(buffer) ? buffer : undefined;
  }

  close(): void {
    this.#places.close();
  }
}

function packElements({
  count,
  corners,
  gradients,
  limits,
  componentOfElement,
  offsets,
}: StrainElements): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(ELEMENT.words * count);
  const floats = new Float32Array(words.buffer);
  for (let colour = 0; colour + 1 < offsets.length; colour++) {
    for (let e = offsets[colour]; e < offsets[colour + 1]; e++) {
      const at = ELEMENT.words * e;
      words.set(corners.subarray(4 * e, 4 * e + 4), at);
      for (let k = 0; k < 3; k++) {
        floats.set(gradients.subarray(9 * e + 3 * k, 9 * e + 3 * k + 3), at + ELEMENT.gradients + 4 * k);
      }
      // s_min, s_max, κ, ℓ
      floats.set(limits.subarray(4 * e, 4 * e + 4), at + ELEMENT.limits);
      if (limits[4 * e + 1] > UNLIMITED) floats[at + ELEMENT.limits + 1] = UNLIMITED;
      words[at + ELEMENT.component] = componentOfElement[e];
      words[at + ELEMENT.colour] = colour;
    }
  }
  return words;
}

/** uint32: for each component the place of its first vertex, and an end; then the vertices, component by component. */
export function membersOf({
  componentOf,
  components,
}: Pick<StrainElements, 'componentOf' | 'components'>): Uint32Array<ArrayBuffer> {
  const counts = new Uint32Array(components);
  let all = 0;
  for (const c of componentOf) {
    if (c === NO_CORNER) continue;
    counts[c]!++;
    all++;
  }
  const words = new Uint32Array(components + 1 + all);
  let place = components + 1;
  for (let c = 0; c < components; c++) {
    words[c] = place;
    place += counts[c]!;
  }
  words[components] = place;
  const next = words.slice(0, components);
  componentOf.forEach((c, v) => {
    if (c !== NO_CORNER) words[next[c]!++] = v;
  });
  return words;
}

/** The EdgeRange of each dispatch of a sweep, wide colours before the tail. */
function rangesOf(elements: StrainElements): Uint8Array<ArrayBuffer> {
  const wide = wideColoursOf(elements);
  const ranges = new Uint8Array(UNIFORM_STRIDE * (wide + 1));
  for (let c = 0; c <= wide; c++) {
    const range = EDGE_RANGE.pack({ firstColour: c, endColour: elements.offsets.length - 1 });
    ranges.set(new Uint8Array(range), UNIFORM_STRIDE * c);
  }
  return ranges;
}
