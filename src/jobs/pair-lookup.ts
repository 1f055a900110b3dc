/** Vertices on side a, by the contract's code of a kind; the kinds with two sides of equal elements. */
const SIDE_A = [0, 1, 2, 1, 1] as const;
const CORNERS = [0, 4, 4, 3, 2] as const;
const SYMMETRIC = [false, false, true, false, true] as const;

/** Pairs as flat lists: uint8[n] the contract's Kind, and [4·n] vertices of side a, then of side b. */
export interface PairList {
  readonly kinds: ArrayLike<number>;
  readonly vertices: ArrayLike<number>;
}

/**
 * Finds a pair among others, in whatever order either names the vertices of a side or, if both sides are of the same
 * type, the sides.
 */
export class PairLookup {
  readonly #list: PairList;
  /** int32[slots] first pair of a slot, and int32[n] the next one; −1 = none */
  readonly #first: Int32Array;
  readonly #next: Int32Array;
  readonly #mine = new Uint32Array(4);
  readonly #theirs = new Uint32Array(4);

  constructor(list: PairList) {
    const count = list.kinds.length;
    this.#list = list;
    this.#first = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 1))).fill(-1);
    this.#next = new Int32Array(count);
    for (let n = 0; n < count; n++) {
      const slot = this.#slotOf(list, n, this.#mine);
      this.#next[n] = this.#first[slot]!;
      this.#first[slot] = n;
    }
  }

  /** @returns the index of pair `n` of another list; −1 = it is missing */
  find(other: PairList, n: number): number {
    const mine = this.#mine;
    const theirs = this.#theirs;
    const kind = other.kinds[n]!;
    for (let at = this.#first[this.#slotOf(other, n, mine)]!; at >= 0; at = this.#next[at]!) {
      if (this.#list.kinds[at] !== kind) continue;
      normalise(this.#list, at, theirs);
      if (mine[0] === theirs[0] && mine[1] === theirs[1] && mine[2] === theirs[2] && mine[3] === theirs[3]) return at;
    }
    return -1;
  }

  #slotOf(list: PairList, n: number, ids: Uint32Array): number {
    normalise(list, n, ids);
    let hash = list.kinds[n]!;
    for (const id of ids) hash = Math.imul(hash ^ id, 0x9e3779b1) ^ (hash >>> 15);
    return (hash >>> 0) % this.#first.length;
  }
}

/** Each side ascending, and like sides by their first vertex; 0 where unused. */
function normalise({ kinds, vertices }: PairList, n: number, ids: Uint32Array): void {
  const kind = kinds[n]! as 1 | 2 | 3 | 4;
  const corners = CORNERS[kind];
  for (let s = 0; s < 4; s++) ids[s] = s < corners ? vertices[4 * n + s]! : 0;
  ids.subarray(0, SIDE_A[kind]).sort();
  ids.subarray(SIDE_A[kind], corners).sort();
  if (!SYMMETRIC[kind]) return;
  const half = corners / 2;
  if (ids[0]! <= ids[half]!) return;
  for (let s = 0; s < half; s++) [ids[s], ids[half + s]] = [ids[half + s]!, ids[s]!];
}
