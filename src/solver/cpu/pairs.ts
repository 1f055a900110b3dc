import { PairWork } from './pair-work.js';

/**
 * The proximity set P: pairs of non-adjacent elements as a structure of arrays that grows to the true demand.
 *
 * Sides of a pair by kind (vertex slots in brackets; side a first):
 *   VT [a | i j k]   EE [a b | c d]   VE [a | i j]   VV [a | i]
 */
export const VT = 0;
export const EE = 1;
export const VE = 2;
export const VV = 3;

/** Vertices on side a, and on both sides, by kind. */
export const SIDE_A = [1, 2, 1, 1] as const;
export const CORNERS = [4, 4, 3, 2] as const;

/** Beyond this many times the pairs that there are, arrays go back when a request ends; below it the next search may use them. */
const LOOSE = 1.25;

/** Room beyond the pairs that there are, in arrays that were cut: P grows and shrinks a little from search to search. */
const SPARE = 1 / 16;

/** Revisions are given once in this thread, so that sets of different scenes cannot be taken for one another. */
let revisionsGiven = 0;

const NOTHING = new PairWork();

/**
 * A set is at work, or it rests: between {@link rest} and {@link wake} there are the pairs and their normals, 29 bytes
 * each, and nothing else may be read or pushed. They never move from one scene's memory to another's.
 */
export class PairSet {
  count = 0;
  /** names the list of pairs: another one after every {@link clear} and {@link keepOnly} */
  revision = ++revisionsGiven;
  /** How many there are of each kind. Kept as pairs come and go: they are millions, and every report states these. */
  readonly byKind = new Uint32Array(4);
  /** uint8[capacity] VT, EE, VE or VV */
  kind = new Uint8Array(0);
  /** int32[4·capacity] vertex slots, −1 where unused */
  vertex = new Int32Array(0);
  /** float32[3·capacity] the last normal, from side b to side a; unit to about 1e-7, or 0 0 0 if none was ever found */
  normal = new Float32Array(0);

  // Lent, and of one request: measured anew by every request.
  /** float32[capacity] δ_p, or 0 while nobody needed it since the search */
  delta = NOTHING.delta;
  // Geometry at the current x, valid for a pair iff stamp[p] is the current step's:
  /** int32[capacity] */
  stamp = NOTHING.stamp;
  /** float32[4·capacity] closest-point weights; each side sums to 1 */
  weight = NOTHING.weight;
  /** float32[capacity] distance of the closest points: an upper bound of the true distance */
  distance = NOTHING.distance;
  /** float32[capacity] certified gap along `normal` */
  gap = NOTHING.gap;
  /** float32[capacity] e, rounding bound of every signed height along `normal` */
  error = NOTHING.error;

  readonly #work: PairWork;

  /** @param work lent by other sets too; its own by default, and then it never needs to rest */
  constructor(work = new PairWork()) {
    this.#work = work;
  }

  /** of the pairs and normals, the room that was made for them, used or not */
  get bytes(): number {
    return this.kind.byteLength + this.vertex.byteLength + this.normal.byteLength;
  }

  /** A request begins: δ_p and geometry are undefined, no stamp is anybody's. */
  wake(): void {
    const work = this.#work;
    if (work.room < this.kind.length) work.makeRoom(this.kind.length);
    if (work.revision !== this.revision) work.stamp.fill(-1, 0, this.count);
    work.revision = 0;
    this.#refer(this.#work);
  }

  /** The request is over, and what was lent may become another set's. Room that is far too large goes back. */
  rest(): void {
    this.#work.revision = this.revision;
    this.#refer(NOTHING);
    if (this.kind.length <= LOOSE * this.count) return;
    const room = this.count + Math.floor(SPARE * this.count);
    const { kind, vertex, normal, count } = this;
    this.#makeRoom(room);
    this.kind.set(kind.subarray(0, count));
    this.vertex.set(vertex.subarray(0, 4 * count));
    this.normal.set(normal.subarray(0, 3 * count));
  }

  /** Makes room for one more pair and returns its index; slots 2 and 3 may be −1. */
  push(kind: number, v0: number, v1: number, v2: number, v3: number, nx: number, ny: number, nz: number): void {
    if (this.count === this.kind.length) this.#grow();
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
    this.stamp[p] = -1;
  }

  clear(): void {
    this.count = 0;
    this.revision = ++revisionsGiven;
    this.byKind.fill(0);
  }

  /** Forgets all pairs, and the room made for them; rests. */
  release(): void {
    this.clear();
    this.#makeRoom(0);
    this.#refer(NOTHING);
  }

  /** Drops every pair with a vertex that is not marked with `bit`; the others keep their order, normal and δ_p. */
  keepOnly(mark: Uint8Array, bit: number): void {
    const { kind, vertex, normal, delta, byKind } = this;
    this.revision = ++revisionsGiven;
    byKind.fill(0);
    let to = 0;
    for (let p = 0; p < this.count; p++) {
      let isKept = true;
      for (let s = 4 * p; s < 4 * p + 4; s++) if (vertex[s] >= 0 && (mark[vertex[s]] & bit) === 0) isKept = false;
      if (!isKept) continue;
      kind[to] = kind[p];
      byKind[kind[p]]++;
      delta[to] = delta[p];
      this.stamp[to] = -1;
      for (let s = 0; s < 4; s++) vertex[4 * to + s] = vertex[4 * p + s];
      for (let c = 0; c < 3; c++) normal[3 * to + c] = normal[3 * p + c];
      to++;
    }
    this.count = to;
  }

  #grow(): void {
    const { kind, vertex, normal, delta, stamp } = this;
    this.#makeRoom(Math.max(1024, kind.length * 2));
    this.kind.set(kind);
    this.vertex.set(vertex);
    this.normal.set(normal);
    if (this.#work.room < this.kind.length) {
      // Pairs arrive during a search only, when no geometry is valid yet: of that there is nothing to copy.
      this.#work.makeRoom(this.kind.length);
      this.#work.delta.set(delta);
      this.#work.stamp.set(stamp);
    }
    this.#refer(this.#work);
  }

  /** New arrays for pairs and normals, with nothing in them. */
  #makeRoom(capacity: number): void {
    this.kind = new Uint8Array(capacity);
    this.vertex = new Int32Array(4 * capacity);
    this.normal = new Float32Array(3 * capacity);
  }

  /** Of a set that rests a reference that stayed would keep memory when the work has moved on to a larger one. */
  #refer({ delta, stamp, weight, distance, gap, error }: PairWork): void {
    this.delta = delta;
    this.stamp = stamp;
    this.weight = weight;
    this.distance = distance;
    this.gap = gap;
    this.error = error;
  }
}
