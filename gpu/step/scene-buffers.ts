import { BY_TARGET } from '../../src/mesh/rest-lengths.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { StrainElements } from '../../src/solver/strain/elements.js';
import { DISPATCH_BYTES, UNIFORM_STRIDE } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import { OwnedPlaces } from '../device/owned-places.js';
import { type Place, write } from '../device/place.js';
import { VECTOR_BYTES } from '../device/vectors.js';
import { CONTACT_WORDS, LIST_SLOT, MOST_ROUNDS, STEP_SLOT } from '../kernels/constants.js';
import {
  CANDIDATE,
  CONTACT_LIST,
  CONTROL,
  EDGE_RANGE,
  LIMIT,
  PARAMETERS,
  SWEEP_RANGE,
  VERTEX_PROGRESS,
  VERTEX_STEP,
} from '../kernels/structs.js';
import { EdgeListBuffers } from './edge-list-buffers.js';
import type { EdgePlan } from './edge-plan.js';
import { PULL_BACK_PAIR_BYTES, PullBackBuffers } from './pull-back-buffers.js';

const { STORAGE, COPY_SRC, COPY_DST, UNIFORM, INDIRECT } = BUFFER_USAGE;
const PAIR_STATE = STORAGE | COPY_SRC | COPY_DST;

/** Bytes per pair of each buffer with an entry for every pair; of the two shared ones, in the forward step. */
const PAIR_BYTES = {
  pairVertex: 16,
  pairInfo: 4,
  pairNormal: 16,
  pairDistance: 4,
  candidates: LIMIT.bytes,
  contacts: 16,
} as const;
/** Bytes per candidate of the two shared buffers, in the backward step. */
const CANDIDATE_BYTES = { candidates: CANDIDATE.bytes, contacts: 4 * CONTACT_WORDS } as const;
/** Bytes of a constraint that lies packed behind the candidates, where kernels for cards have it (run-queue-ahead.wgsl). */
const PACKED_BYTES = 128;
/** So many are packed at most: those of stacked layers of 100,000 vertices. A larger mesh needs its memory for other things. */
const MOST_PACKED = 2 ** 19;
/** Contacts of a vertex in such layers. */
const PACKED_OF_VERTEX = 9 / 2;
/** Packed constraints lie in blocks of this many. */
const PACKED_BLOCK = 32;

/** With this many pairs per candidate the forward step alone determines the size of the shared buffers. */
const PAIRS_PER_CANDIDATE = 4;

/** Bytes per pair of the largest pair buffer, and per candidate of the larger shared one. */
export const LARGEST_PAIR_BYTES = Math.max(...Object.values(PAIR_BYTES));
export const LARGEST_CANDIDATE_BYTES = Math.max(...Object.values(CANDIDATE_BYTES));

/** Bindings with another name than their buffer: `target` is reserved in WGSL, the others have two uses in a step. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  goal: 'target',
  limits: 'candidates',
  carried: 'candidates',
  heldEdges: 'edgeLambda',
  bounds: 'contacts',
  listed: 'contacts',
  packed: 'next',
};

/**
 * The buffers of one scene, by the names that the kernels use. Units are engine units.
 *
 * Per vertex: x, next, start, target, windowStart float32[3V]; y float32[4V] (xyz, and a word that counts for nothing);
 * box float32[6V] lo xyz, hi xyz; inverseMass float32[V]; wanted uint32[V]; vertexStep, lists, progress structs of 16
 * bytes; motions float32[12], of which steps use 8, and a search all (DeviceSearch). Per pair, with room for
 * `pairCapacity`: pairVertex int32[4] (−1 = unused), pairInfo uint32 (kind in the low bits), pairNormal float32[4]
 * (xyz, δ_p or 0), pairDistance float32. Two buffers have two uses in a step: as `candidates` and `contacts` they hold
 * `candidateCapacity` candidates of the backward step, as `limits` and `bounds` 16 bytes per pair of the forward step.
 */
export class SceneBuffers {
  readonly parameters: Place;
  readonly control: Place;
  stepArguments!: Place;
  readonly candidateArguments: Place;
  readonly inverseMass: Place;
  readonly x: Place;
  readonly y: Place;
  readonly next: Place;
  readonly start: Place;
  readonly target: Place;
  readonly windowStart: Place;
  readonly box: Place;
  readonly wanted: Place;
  readonly vertexStep: Place;
  readonly lists: Place;
  readonly progress: Place;
  readonly motions: Place;
  readonly sweepRanges: Place;
  edgeEnds!: Place;
  edgeRest!: Place;
  edgeRow!: Place;
  edgeLambda!: Place;
  edgeColours!: Place;
  edgeRanges!: Place;
  pairVertex!: Place;
  pairInfo!: Place;
  pairNormal!: Place;
  pairDistance!: Place;
  candidates!: Place;
  contacts!: Place;
  pairCapacity = 0;
  candidateCapacity = 0;
  /** number of replacements of buffers: bind groups of an older generation are invalid */
  generation = 0;

  readonly #memory: DeviceMemory;
  readonly #places: OwnedPlaces;
  readonly #vertexCount: number;
  #edges: EdgePlan;
  /** undefined = no sweep uses lists of edges */
  #edgeLists: EdgeListBuffers | undefined;
  /** undefined until a request needs them */
  #pullBack: PullBackBuffers | undefined;

  readonly #pairsPerCandidate: number;

  /** @param firstCandidates room for candidates; undefined = as many as the memory of the pairs holds */
  constructor(
    memory: DeviceMemory,
    mesh: CollisionMesh,
    edges: EdgePlan,
    pairCapacity: number,
    firstCandidates: number | undefined = undefined,
  ) {
    this.#memory = memory;
    this.#places = new OwnedPlaces(memory);
    this.#pairsPerCandidate = firstCandidates === undefined ? PAIRS_PER_CANDIDATE : Number.POSITIVE_INFINITY;
    this.candidateCapacity = firstCandidates ?? 0;
    const v = mesh.vertexCount;
    this.#vertexCount = v;
    this.#edges = edges;
    const state = STORAGE | COPY_SRC | COPY_DST;
    this.parameters = this.#places.add('parameters', PARAMETERS.bytes, UNIFORM | COPY_DST);
    this.control = this.#places.add('control', CONTROL.bytes, state | UNIFORM);
    this.candidateArguments = this.#places.add(
      'candidateArguments',
      DISPATCH_BYTES * LIST_SLOT.COUNT,
      STORAGE | INDIRECT | COPY_SRC,
    );
    this.inverseMass = this.#places.add('inverseMass', 4 * v, STORAGE | COPY_DST);
    this.x = this.#places.add('x', 12 * v, state);
    this.y = this.#places.add('y', VECTOR_BYTES * v, state);
    this.next = this.#places.add('next', 12 * v, state);
    // If parts have their own δ, the δ of each vertex follows the positions.
    const hasDistances = mesh.parts.some(({ activationDistance }) => activationDistance !== undefined);
    this.start = this.#places.add('start', (hasDistances ? 16 : 12) * v, state);
    this.target = this.#places.add('target', 12 * v, state);
    this.windowStart = this.#places.add('windowStart', 12 * v, state);
    this.box = this.#places.add('box', 24 * v, state);
    this.wanted = this.#places.add('wanted', 4 * v, state);
    this.vertexStep = this.#places.add('vertexStep', VERTEX_STEP.bytes * v, state);
    this.lists = this.#places.add('lists', CONTACT_LIST.bytes * v, state);
    this.progress = this.#places.add('progress', VERTEX_PROGRESS.bytes * v, state);
    this.motions = this.#places.add('motions', 3 * VECTOR_BYTES * v, STORAGE);
    this.sweepRanges = this.#places.add('sweepRanges', UNIFORM_STRIDE * (MOST_ROUNDS + 1), UNIFORM | COPY_DST);
    write(memory.device.queue, this.sweepRanges, 0, sweepRangesOf());
    write(memory.device.queue, this.inverseMass, 0, Float32Array.from(mesh.inverseMasses));
    this.replaceEdges(edges);
    this.reservePairs(pairCapacity);
  }

  /** Replaces the buffers of the edge constraints and of their dispatch sizes; the rows must be linearised again. */
  replaceEdges(edges: EdgePlan): void {
    const { stepArguments, edgeEnds, edgeRest, edgeRow, edgeLambda, edgeColours, edgeRanges } = this;
    for (const buffer of [stepArguments, edgeEnds, edgeRest, edgeRow, edgeLambda, edgeColours, edgeRanges]) {
      if (buffer) this.#places.drop(buffer);
    }
    const slots = STEP_SLOT.FIRST_EDGES + edges.wideColours;
    this.stepArguments = this.#places.add(
      'stepArguments',
      DISPATCH_BYTES * slots,
      STORAGE | INDIRECT | COPY_DST | COPY_SRC,
    );
    this.edgeEnds = this.#places.add('edgeEnds', 8 * edges.count, STORAGE | COPY_DST);
    this.edgeRest = this.#places.add('edgeRest', 4 * (edges.rest ? edges.count : 0), STORAGE | COPY_DST);
    this.edgeRow = this.#places.add('edgeRow', 16 * edges.count, STORAGE | COPY_SRC);
    const held = edges.colours.length - 1 + edges.count;
    this.edgeLambda = this.#places.add('edgeLambda', 4 * held, STORAGE | COPY_SRC | COPY_DST);
    this.edgeColours = this.#places.add('edgeColours', edges.colours.byteLength, STORAGE | COPY_DST);
    const ranges = 2 * (edges.wideColours + 1) + 1;
    this.edgeRanges = this.#places.add('edgeRanges', UNIFORM_STRIDE * ranges, UNIFORM | COPY_DST);
    const { queue } = this.#memory.device;
    write(queue, this.edgeEnds, 0, edges.ends);
    write(queue, this.edgeColours, 0, edges.colours);
    write(queue, this.edgeRanges, 0, edgeRangesOf(edges));
    this.#edges = edges;
    this.#pullBack?.replaceEdges(edges);
    this.#edgeLists?.close();
    this.#edgeLists = undefined;
    this.generation++;
  }

  /** Lengths of edges at rest in the unit of a request. @param scale engine units in one of the caller's */
  uploadRest(scale: number): void {
    const { rest } = this.#edges;
    if (!rest) return;
    const lengths = Float32Array.from(rest, (length) => (length === BY_TARGET ? length : length * scale));
    write(this.#memory.device.queue, this.edgeRest, 0, lengths);
  }

  /** Allocates the buffers of the pull-back, once. @param strains elements with strain limits */
  reservePullBack(strains?: StrainElements): void {
    this.#pullBack ??= new PullBackBuffers(this.#memory, this.#vertexCount, this.#edges, this.pairCapacity, strains);
  }

  /** The states between the pieces of the last forward step of the pull-back; undefined = there is no room for them. */
  get pieces(): Place | undefined {
    return this.#pullBack?.pieces;
  }

  /** Allocates the room for the states between the pieces of forward steps of the pull-back, once. */
  reservePieces(): void {
    this.#pullBack?.reservePieces(this.#vertexCount);
  }

  /** Allocates the buffers of sweeps over lists of the present edges, until these are replaced. */
  reserveEdgeLists(): void {
    this.#edgeLists?.close();
    this.#edgeLists = new EdgeListBuffers(this.#memory, this.#vertexCount, this.#edges);
    this.generation++;
  }

  /** The elements with strain limits in the unit of the request. */
  uploadStrains(elements: StrainElements): void {
    this.#pullBack?.strains?.upload(elements);
  }

  /**
   * Replaces the pair buffers by larger ones, without their content: P must be found or uploaded again. The room for
   * candidates grows with them.
   */
  reservePairs(capacity: number): void {
    if (capacity <= this.pairCapacity) return;
    for (const buffer of [this.pairVertex, this.pairInfo, this.pairNormal, this.pairDistance]) {
      if (buffer) this.#places.drop(buffer);
    }
    this.pairVertex = this.#places.add('pairVertex', PAIR_BYTES.pairVertex * capacity, PAIR_STATE);
    this.pairInfo = this.#places.add('pairInfo', PAIR_BYTES.pairInfo * capacity, PAIR_STATE);
    this.pairNormal = this.#places.add('pairNormal', PAIR_BYTES.pairNormal * capacity, PAIR_STATE);
    this.pairDistance = this.#places.add('pairDistance', PAIR_BYTES.pairDistance * capacity, PAIR_STATE);
    this.pairCapacity = capacity;
    this.#pullBack?.reservePairs(capacity);
    this.#share(this.#candidatesWith(capacity, this.candidateCapacity));
  }

  /** Makes room for more candidates. P stays valid; the contacts that a step has found so far are lost. */
  reserveCandidates(capacity: number): void {
    if (capacity > this.candidateCapacity) this.#share(capacity);
  }

  /** Bytes to allocate beyond the present ones for this capacity. */
  bytesToGrow(pairs: number, candidates: number): number {
    const later = this.#bytesOf(pairs, this.#candidatesWith(pairs, candidates));
    const multipliers = this.#pullBack ? PULL_BACK_PAIR_BYTES * (pairs - this.pairCapacity) : 0;
    return later - this.#bytesOf(this.pairCapacity, this.candidateCapacity) + multipliers;
  }

  /** Bytes of the buffers that {@link reservePairs} and {@link reserveCandidates} replace. */
  get bytesThatGrow(): number {
    const multipliers = this.#pullBack ? PULL_BACK_PAIR_BYTES * this.pairCapacity : 0;
    return this.#bytesOf(this.pairCapacity, this.candidateCapacity) + multipliers;
  }

  /** The room for candidates with this many pairs; at least one, because kernels bind nothing shorter. */
  #candidatesWith(pairs: number, candidates: number): number {
    return Math.max(1, candidates, Math.floor(pairs / this.#pairsPerCandidate));
  }

  /** Allocates the two buffers that both halves of a step use, each for the half that needs more. */
  #share(candidates: number): void {
    for (const buffer of [this.candidates, this.contacts]) if (buffer) this.#places.drop(buffer);
    const [own, words] = this.#sharedBytes(this.pairCapacity, candidates);
    this.candidates = this.#places.add('candidates', own, PAIR_STATE);
    this.contacts = this.#places.add('contacts', words, PAIR_STATE);
    this.candidateCapacity = candidates;
    this.generation++;
  }

  /** Constraints for which there is room behind the candidates. */
  get packedRows(): number {
    return this.#packedWith(this.candidateCapacity);
  }

  /** None for processors, whose kernels do not use them, and where they would make the longest binding longer. */
  #packedWith(candidates: number): number {
    const { device, largestBinding } = this.#memory;
    const wanted = Math.min(MOST_PACKED, candidates, PACKED_OF_VERTEX * this.#vertexCount);
    const rows = PACKED_BLOCK * Math.ceil(wanted / PACKED_BLOCK);
    const isLong = CANDIDATE_BYTES.candidates * candidates + PACKED_BYTES * rows > largestBinding;
    return isLong || !device.features.has('subgroups') ? 0 : rows;
  }

  #sharedBytes(pairs: number, candidates: number): [number, number] {
    const packed = PACKED_BYTES * this.#packedWith(candidates);
    return [
      Math.max(PAIR_BYTES.candidates * pairs, CANDIDATE_BYTES.candidates * candidates + packed),
      Math.max(PAIR_BYTES.contacts * pairs, CANDIDATE_BYTES.contacts * candidates),
    ];
  }

  #bytesOf(pairs: number, candidates: number): number {
    const { pairVertex, pairInfo, pairNormal, pairDistance } = PAIR_BYTES;
    const [own, words] = this.#sharedBytes(pairs, candidates);
    return (pairVertex + pairInfo + pairNormal + pairDistance) * pairs + own + words;
  }

  /** The buffer that a kernel's binding names. @throws Error for a name that no buffer has */
  named(binding: string): Place {
    const name = OTHER_NAMES[binding] ?? binding;
    const own = (this as unknown as Record<string, unknown>)[name] as Place;
    const buffer = this.#places.has(own) ? own : (this.#edgeLists?.named(name) ?? this.#pullBack?.named(name));
    if (!buffer) throw new Error(`A kernel binds "${binding}", which is no buffer of a scene.`);
    return buffer;
  }

  close(): void {
    this.#pullBack?.close();
    this.#edgeLists?.close();
    this.#places.close();
  }
}

/** The SweepRange of each round, and of a tail after all of them. */
function sweepRangesOf(): Uint8Array<ArrayBuffer> {
  const ranges = new Uint8Array((MOST_ROUNDS + 1) * UNIFORM_STRIDE);
  for (let round = 0; round <= MOST_ROUNDS; round++) {
    ranges.set(new Uint8Array(SWEEP_RANGE.pack({ round })), UNIFORM_STRIDE * round);
  }
  return ranges;
}

/** The EdgeRange of each dispatch of a step's first sweep, wide colours before the tail, and of its later sweeps; then that of a tail of all colours. */
function edgeRangesOf({ colours, wideColours, count }: EdgePlan): Uint8Array<ArrayBuffer> {
  const ranges = new Uint8Array((2 * (wideColours + 1) + 1) * UNIFORM_STRIDE);
  for (const isFirst of [1, 0]) {
    for (let c = 0; c <= wideColours; c++) {
      const end = c < wideColours ? colours[c + 1] : count;
      const range = { first: colours[c], end, isFirst, firstColour: c, endColour: colours.length - 1 };
      ranges.set(new Uint8Array(EDGE_RANGE.pack(range)), UNIFORM_STRIDE * ((1 - isFirst) * (wideColours + 1) + c));
    }
  }
  const whole = { first: 0, end: count, isFirst: 0, firstColour: 0, endColour: colours.length - 1 };
  ranges.set(new Uint8Array(EDGE_RANGE.pack(whole)), UNIFORM_STRIDE * 2 * (wideColours + 1));
  return ranges;
}
