import { allocate, release } from '../../threads/arrays.js';
import { team } from '../../threads/here.js';
import { defineStage } from '../../threads/stage.js';
import { PAIR_KINDS } from '../pair-kinds.js';
import type { SavedProximity } from '../saved-scene.js';

/** A set whose capacity exceeds its pairs by this factor frees memory when a request ends. */
const MAX_SLACK = 1.25;

/** Share of the count that a set keeps as spare capacity, because P grows and shrinks a little between searches. */
const SPARE = 1 / 16;

/** The factor by which the capacity of a set grows, or to what it needs at once, if that is more. */
const GROWTH = 1.5;

/** The first capacity of a set. */
const MIN_CAPACITY = 1024;

/** Pairs in a row from which they move as blocks: setting up a block takes as long as moving some pairs one by one. */
const BLOCK = 16;

/** Revisions are unique in this thread, so that they also tell sets of different scenes apart. */
let lastRevision = 0;

/**
 * The results of the steps of one request for each pair, 40 bytes per pair. All scenes of an engine share one such
 * block: a {@link PairSet} acquires it for a request and releases it afterwards.
 */
export class PairGeometry {
  /** revision of the set that released it last; 0 = none */
  revision = 0;
  delta: Float32Array = new Float32Array(0);
  lambda: Float32Array = new Float32Array(0);
  stamp: Int32Array = new Int32Array(0);
  weight: Float32Array = new Float32Array(0);
  distance: Float32Array = new Float32Array(0);
  gap: Float32Array = new Float32Array(0);
  error: Float32Array = new Float32Array(0);

  /** in pairs */
  get capacity(): number {
    return this.stamp.length;
  }

  get bytes(): number {
    return this.#arrays.reduce((sum, array) => sum + array.byteLength, 0);
  }

  /** Replaces every array by a new one with undefined content. */
  allocate(pairs: number): void {
    release(...this.#arrays);
    this.revision = 0;
    this.delta = allocate(Float32Array, pairs);
    this.lambda = allocate(Float32Array, pairs);
    this.stamp = allocate(Int32Array, pairs);
    this.weight = allocate(Float32Array, 4 * pairs);
    this.distance = allocate(Float32Array, pairs);
    this.gap = allocate(Float32Array, pairs);
    this.error = allocate(Float32Array, pairs);
  }

  get #arrays(): readonly (Float32Array | Int32Array)[] {
    return [this.delta, this.lambda, this.stamp, this.weight, this.distance, this.gap, this.error];
  }
}

const NO_GEOMETRY = new PairGeometry();

/** The arrays of a {@link PairSet} with which stages work, by the same names. */
export type PairArrays = Readonly<
  Pick<PairSet, 'kind' | 'vertex' | 'normal' | 'delta' | 'stamp' | 'weight' | 'distance' | 'gap' | 'error'>
>;

/**
 * The proximity set P: pairs of non-adjacent elements as a structure of arrays that grows with the demand. Vertex slots
 * hold side a first (pair-kinds.ts).
 *
 * Between {@link release} and {@link acquire} a set holds its pairs and normals only, 29 bytes each, and nothing else
 * may be read or pushed. These arrays belong to the set; the geometry of the pairs is shared memory.
 */
export class PairSet {
  count = 0;
  /** identifies the list of pairs; changes on every {@link clear} and {@link keepOnly} */
  revision = ++lastRevision;
  /** number of pairs of each kind, maintained by every change, because a report should not count millions of pairs */
  readonly byKind = new Uint32Array(PAIR_KINDS.length);
  /** uint8[capacity] index into PAIR_KINDS */
  kind: Uint8Array = new Uint8Array(0);
  /** int32[4·capacity] vertex slots, −1 where unused */
  vertex: Int32Array = new Int32Array(0);
  /** float32[3·capacity] last normal, from side b to side a; unit to about 1e-7, or 0 0 0 if there was none */
  normal: Float32Array = new Float32Array(0);

  // Shared memory, valid during one request:
  /**
   * float32[capacity] δ_p, in the pull-back the aim of the contact (contact-aims.ts); or 0 while no step has needed it
   */
  delta = NO_GEOMETRY.delta;
  /** float32[capacity] multiplier of the last step of the pull-back, 0 if it had none */
  lambda = NO_GEOMETRY.lambda;
  // Geometry at the current x, valid for a pair iff stamp[p] is the current step's:
  /** int32[capacity] */
  stamp = NO_GEOMETRY.stamp;
  /** float32[4·capacity] closest-point weights; each side sums to 1 */
  weight = NO_GEOMETRY.weight;
  /** float32[capacity] distance of the closest points: an upper bound of the true distance */
  distance = NO_GEOMETRY.distance;
  /** float32[capacity] certified gap along `normal` */
  gap = NO_GEOMETRY.gap;
  /** float32[capacity] e, rounding bound of every signed height along `normal` */
  error = NO_GEOMETRY.error;

  readonly #geometry: PairGeometry;

  /** @param geometry shared with other sets; a set that has one of its own never needs to release it */
  constructor(geometry = new PairGeometry()) {
    this.#geometry = geometry;
  }

  /** Bytes of the pairs and normals, by capacity. */
  get bytes(): number {
    return this.kind.byteLength + this.vertex.byteLength + this.normal.byteLength;
  }

  /** Begins a request: δ_p and geometry are undefined, no stamp is current. */
  acquire(): void {
    const geometry = this.#geometry;
    if (geometry.capacity < this.kind.length) geometry.allocate(this.kind.length);
    if (geometry.revision !== this.revision) geometry.stamp.fill(-1, 0, this.count);
    geometry.revision = 0;
    this.#refer(geometry);
  }

  /** Ends a request: another set may acquire the shared memory. Frees capacity far beyond the count. */
  release(): void {
    this.#geometry.revision = this.revision;
    this.#refer(NO_GEOMETRY);
    if (this.kind.length <= MAX_SLACK * this.count) return;
    const capacity = this.count + Math.floor(SPARE * this.count);
    this.#allocate(capacity, this.count);
  }

  /** Copies pairs and normals. */
  save(): Pick<SavedProximity, 'kind' | 'vertex' | 'normal'> {
    const { kind, vertex, normal, count } = this;
    return { kind: kind.slice(0, count), vertex: vertex.slice(0, 4 * count), normal: normal.slice(0, 3 * count) };
  }

  /** Replaces all pairs by those of {@link save}; between requests only. */
  restore({ kind, vertex, normal }: Pick<SavedProximity, 'kind' | 'vertex' | 'normal'>): void {
    this.clear();
    this.#allocate(kind.length, 0);
    this.kind.set(kind);
    this.vertex.set(vertex);
    this.normal.set(normal);
    this.count = kind.length;
    for (const one of kind) this.byKind[one]++;
  }

  /** Appends a pair; unused slots are −1. */
  push(kind: number, v0: number, v1: number, v2: number, v3: number, nx: number, ny: number, nz: number): void {
    if (this.count === this.kind.length) this.#grow(this.count + 1);
    const p = this.count++;
    this.byKind[kind]++;
    this.kind[p] = kind;
    this.vertex[4 * p] = v0;
    this.vertex[4 * p + 1] = v1;
    this.vertex[4 * p + 2] = v2;
    this.vertex[4 * p + 3] = v3;
    this.normal[3 * p] = nx;
    this.normal[3 * p + 1] = ny;
    this.normal[3 * p + 2] = nz;
    this.delta[p] = 0;
    this.lambda[p] = 0;
    this.stamp[p] = -1;
  }

  /** Appends pairs of one kind whose vertices and normals the caller writes. */
  extend(kind: number, count: number): void {
    const { count: from } = this;
    const end = from + count;
    if (end > this.kind.length) this.#grow(end);
    this.count = end;
    this.byKind[kind] += count;
    this.kind.fill(kind, from, end);
    this.delta.fill(0, from, end);
    this.lambda.fill(0, from, end);
    this.stamp.fill(-1, from, end);
  }

  clear(): void {
    this.count = 0;
    this.revision = ++lastRevision;
    this.byKind.fill(0);
  }

  /** Drops all pairs with their memory, and the shared memory. */
  discard(): void {
    this.clear();
    this.#allocate(0, 0);
    this.#refer(NO_GEOMETRY);
  }

  /** Frees all memory, including that of the geometry, which no other set may share. */
  dispose(): void {
    this.discard();
    this.#geometry.allocate(0);
  }

  /** Drops every pair with a vertex whose mask lacks `bit`; the others keep their order, normal, δ_p and multiplier. */
  keepOnly(mask: Uint8Array, bit: number): void {
    const { vertex, count } = this;
    const isKept = allocate(Uint8Array, count);
    team.run({ stage: MARK, arrays: { vertex, mask, isKept }, numbers: { bit }, count, chunk: 8192, cost: MARK_COST });
    this.retain(isKept);
    release(isKept);
  }

  /**
   * Drops the pairs without a mark; the others keep their order, normal, δ_p and multiplier.
   *
   * @param isKept uint8[count] 0 or 1
   */
  retain(isKept: Uint8Array): void {
    const { kind, byKind, count } = this;
    this.revision = ++lastRevision;
    byKind.fill(0);
    let to = 0;
    for (let p = 0; p < count; ) {
      const from = p;
      while (p < count && isKept[p] === 1) byKind[kind[p++]]++;
      if (to !== from) this.#move(from, p, to);
      to += p - from;
      while (p < count && isKept[p] === 0) p++;
    }
    this.stamp.fill(-1, 0, to);
    this.count = to;
  }

  /** Moves the pairs [from, end) to an earlier place, as blocks of memory if they are many. */
  #move(from: number, end: number, to: number): void {
    const { kind, vertex, normal, delta, lambda } = this;
    if (end - from >= BLOCK) {
      kind.copyWithin(to, from, end);
      vertex.copyWithin(4 * to, 4 * from, 4 * end);
      normal.copyWithin(3 * to, 3 * from, 3 * end);
      delta.copyWithin(to, from, end);
      lambda.copyWithin(to, from, end);
      return;
    }
    for (let p = from, q = to; p < end; p++, q++) {
      kind[q] = kind[p];
      for (let s = 0; s < 4; s++) vertex[4 * q + s] = vertex[4 * p + s];
      for (let c = 0; c < 3; c++) normal[3 * q + c] = normal[3 * p + c];
      delta[q] = delta[p];
      lambda[q] = lambda[p];
    }
  }

  /** @param least pairs */
  #grow(least: number): void {
    this.#allocate(Math.max(MIN_CAPACITY, Math.ceil(GROWTH * this.kind.length), least), this.count);
    const geometry = this.#geometry;
    if (geometry.capacity < this.kind.length) {
      // Only a search appends pairs, and then no geometry is valid that would need a copy.
      const delta = this.delta.slice(0, this.count);
      const lambda = this.lambda.slice(0, this.count);
      const stamp = this.stamp.slice(0, this.count);
      geometry.allocate(this.kind.length);
      geometry.delta.set(delta);
      geometry.lambda.set(lambda);
      geometry.stamp.set(stamp);
    }
    this.#refer(geometry);
  }

  /** Replaces the arrays of pairs and normals, with as many of the pairs. */
  #allocate(capacity: number, kept: number): void {
    const { kind, vertex, normal } = this;
    this.kind = allocate(Uint8Array, capacity);
    this.vertex = allocate(Int32Array, 4 * capacity);
    this.normal = allocate(Float32Array, 3 * capacity);
    this.kind.set(kind.subarray(0, kept));
    this.vertex.set(vertex.subarray(0, 4 * kept));
    this.normal.set(normal.subarray(0, 3 * kept));
    release(kind, vertex, normal);
  }

  /** A released set refers to no geometry, which would keep arrays alive that the owner has replaced. */
  #refer({ delta, lambda, stamp, weight, distance, gap, error }: PairGeometry): void {
    this.delta = delta;
    this.lambda = lambda;
    this.stamp = stamp;
    this.weight = weight;
    this.distance = distance;
    this.gap = gap;
    this.error = error;
  }
}

interface MarkArrays {
  readonly vertex: Int32Array;
  readonly mask: Uint8Array;
  readonly isKept: Uint8Array;
}

/** Nanoseconds per pair. */
const MARK_COST = 8;

const MARK = defineStage(import.meta.url, 'mark', markPairs);

/** Marks the pairs all of whose vertices have the bit. */
function markPairs(
  { vertex, mask, isKept }: MarkArrays,
  { bit }: { readonly bit: number },
  from: number,
  to: number,
): void {
  for (let p = from; p < to; p++) {
    let isMarked = 1;
    for (let s = 4 * p; s < 4 * p + 4; s++) if (vertex[s] >= 0 && (mask[vertex[s]] & bit) === 0) isMarked = 0;
    isKept[p] = isMarked;
  }
}
