import { PULL_BACK_PIECES } from '../../src/solver/constants.js';
import type { StrainElements } from '../../src/solver/strain/elements.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import { OwnedPlaces } from '../device/owned-places.js';
import type { Place } from '../device/place.js';
import { MARKS_PER_WORD, SUM_GROUPS } from '../kernels/constants.js';
import { PULL_BACK, VERTEX_PULL } from '../kernels/structs.js';
import type { EdgePlan } from './edge-plan.js';
import { StrainBuffers } from './strain-buffers.js';

const { STORAGE, COPY_SRC, COPY_DST, UNIFORM } = BUFFER_USAGE;
const STATE = STORAGE | COPY_SRC | COPY_DST;

/** Bytes of a vertex in a state between two pieces. */
export const PIECE_BYTES = 12;

/** Bytes per pair. */
export const PULL_BACK_PAIR_BYTES = 4;

/**
 * The buffers that the pull-back of a scene needs besides those of its steps, by the names that the kernels use; they
 * exist once a request has asked for a quality above FAST. Per vertex: best float32[3V], yFrom and yLast float32[4V],
 * pull struct VertexPull, offsets float32 (contact offset, if parts have their own), shortfalls float32[2V] (of the
 * state, then of the best one). Per edge: edgePush float32[4] (previous multiplier, and colour; the multiplier lies in
 * edgeRow); edgeActive uint32, the number of edges of each colour, and the edges. Per pair: kept float32 (multiplier).
 * sums twice float32[4] per workgroup of a sum. activeVertices uint32: see pull-back/active-words.wgsl. pieces
 * float32[3V] for each piece of a forward step but the last one, for requests that ask for their path.
 */
export class PullBackBuffers {
  readonly pullBack: Place;
  readonly best: Place;
  readonly yFrom: Place;
  readonly yLast: Place;
  readonly pull: Place;
  readonly offsets: Place;
  readonly shortfalls: Place;
  readonly sums: Place;
  readonly activeVertices: Place;
  edgePush!: Place;
  edgeActive!: Place;
  kept!: Place;
  /** undefined = no request has asked for its path */
  pieces: Place | undefined;
  /** undefined = the mesh has no strain limits */
  readonly strains: StrainBuffers | undefined;

  readonly #places: OwnedPlaces;

  constructor(
    memory: DeviceMemory,
    vertexCount: number,
    edges: EdgePlan,
    pairCapacity: number,
    elements?: StrainElements,
  ) {
    this.#places = new OwnedPlaces(memory);
    this.strains = elements && new StrainBuffers(memory, elements, edges.unlimited);
    this.pullBack = this.#places.add('pullBack', PULL_BACK.bytes, UNIFORM | COPY_DST);
    this.best = this.#places.add('best', 12 * vertexCount, STATE);
    this.yFrom = this.#places.add('yFrom', 16 * vertexCount, STATE);
    this.yLast = this.#places.add('yLast', 16 * vertexCount, STATE);
    this.pull = this.#places.add('pull', VERTEX_PULL.bytes * vertexCount, STATE);
    this.offsets = this.#places.add('offsets', 4 * vertexCount, STATE);
    this.shortfalls = this.#places.add('shortfalls', 8 * vertexCount, STATE);
    this.sums = this.#places.add('sums', 2 * 16 * SUM_GROUPS, STATE);
    this.activeVertices = this.#places.add(
      'activeVertices',
      4 * (1 + Math.ceil(vertexCount / MARKS_PER_WORD) + 2 * vertexCount),
      STATE,
    );
    this.replaceEdges(edges);
    this.reservePairs(pairCapacity);
  }

  replaceEdges({ count, colours, unlimited }: EdgePlan): void {
    this.strains?.freeEdges(unlimited);
    for (const buffer of [this.edgePush, this.edgeActive]) if (buffer) this.#places.drop(buffer);
    this.edgePush = this.#places.add('edgePush', 16 * count, STATE);
    this.edgeActive = this.#places.add('edgeActive', 4 * (colours.length - 1 + count), STATE);
  }

  /** Allocates the room for the states between the pieces of a forward step, once. */
  reservePieces(vertexCount: number): void {
    this.pieces ??= this.#places.add('pieces', PIECE_BYTES * (PULL_BACK_PIECES - 1) * vertexCount, STATE);
  }

  /** Multipliers that were kept are lost. */
  reservePairs(capacity: number): void {
    if (this.kept) this.#places.drop(this.kept);
    this.kept = this.#places.add('kept', PULL_BACK_PAIR_BYTES * capacity, STATE);
  }

  named(name: string): Place | undefined {
    const buffer = (this as unknown as Record<string, unknown>)[name] as Place;
    return this.#places.has(buffer) ? buffer : this.strains?.named(name);
  }

  close(): void {
    this.strains?.close();
    this.#places.close();
  }
}
