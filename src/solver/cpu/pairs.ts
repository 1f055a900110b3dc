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

/** Revisions are given once in this thread, so that sets of different scenes cannot be taken for one another. */
let revisionsGiven = 0;

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
  /** float32[capacity] δ_p, or 0 while nobody needed it since the search */
  delta = new Float32Array(0);

  // Geometry at the current x, valid for a pair iff stamp[p] is the current step's:
  /** int32[capacity] */
  stamp = new Int32Array(0);
  /** float32[4·capacity] closest-point weights; each side sums to 1 */
  weight = new Float32Array(0);
  /** float32[capacity] distance of the closest points: an upper bound of the true distance */
  distance = new Float32Array(0);
  /** float32[capacity] certified gap along `normal` */
  gap = new Float32Array(0);
  /** float32[capacity] e, rounding bound of every signed height along `normal` */
  error = new Float32Array(0);

  /** Makes room for one more pair and returns its index; slots 2 and 3 may be −1. */
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
    this.stamp[p] = -1;
  }

  /** of the room that was made, used or not */
  get bytes(): number {
    const { kind, vertex, normal, delta, stamp, weight, distance, gap, error } = this;
    return [kind, vertex, normal, delta, stamp, weight, distance, gap, error].reduce((sum, a) => sum + a.byteLength, 0);
  }

  clear(): void {
    this.count = 0;
    this.revision = ++revisionsGiven;
    this.byKind.fill(0);
  }

  /** Forgets all pairs, and the room made for them. */
  release(): void {
    this.clear();
    this.#makeRoom(0);
  }

  /** Takes over pairs that were kept elsewhere, under the revision they had; δ_p and geometry are undefined. */
  load(
    revision: number,
    count: number,
    byKind: Uint32Array,
    kind: Uint8Array,
    vertex: Int32Array,
    normal: Float32Array,
  ): void {
    this.count = 0;
    if (this.kind.length < count) this.#makeRoom(count);
    this.kind.set(kind.subarray(0, count));
    this.vertex.set(vertex.subarray(0, 4 * count));
    this.normal.set(normal.subarray(0, 3 * count));
    this.stamp.fill(-1, 0, count);
    this.byKind.set(byKind);
    this.count = count;
    this.revision = revision;
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

  #grow(demand: number): void {
    const { kind, vertex, normal, delta, stamp } = this;
    // Pairs arrive during a search only, when no geometry is valid yet: of that there is nothing to copy.
    this.#makeRoom(Math.max(1024, demand, kind.length * 2));
    this.kind.set(kind);
    this.vertex.set(vertex);
    this.normal.set(normal);
    this.delta.set(delta);
    this.stamp.set(stamp);
  }

  /** New arrays, with nothing in them. */
  #makeRoom(capacity: number): void {
    this.kind = new Uint8Array(capacity);
    this.vertex = new Int32Array(4 * capacity);
    this.normal = new Float32Array(3 * capacity);
    this.delta = new Float32Array(capacity);
    this.stamp = new Int32Array(capacity);
    this.weight = new Float32Array(4 * capacity);
    this.distance = new Float32Array(capacity);
    this.gap = new Float32Array(capacity);
    this.error = new Float32Array(capacity);
  }
}
