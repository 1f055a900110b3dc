/**
 * Colourings of constraints: no two constraints of a colour share a vertex that can move, so a colour's projections are
 * independent of their order and can run in parallel.
 */
export interface Colouring {
  /** constraints in the order of the sweep, colour by colour */
  readonly order: Uint32Array;
  /** order[offsets[c]] … order[offsets[c + 1] − 1] have colour c */
  readonly offsets: Uint32Array;
  readonly colours: number;
}

export interface EdgeColours {
  /** uint32[n] by edge */
  readonly colour: Uint32Array;
  /** uint32[colours + 1] the number of edges whose colour is lower than c */
  readonly offsets: Uint32Array<ArrayBuffer>;
  readonly colours: number;
}

/**
 * Greedy colouring of the edges in index order with the smallest free colour, once per topology.
 *
 * @param corner uint32[2·n] the ends of each edge
 * @param inverseMass float32[V] vertices with 0 cannot move and create no conflict
 */
export function colourEdges(corner: Uint32Array, inverseMass: Float32Array): EdgeColours {
  const count = corner.length / 2;
  const colour = new Uint32Array(count);
  // Bit c: colour c is used at the vertex; colours from 32 on are in lists.
  const used = new Uint32Array(inverseMass.length);
  let beyond: UsedColours | undefined;
  const sizes: number[] = [];
  for (let e = 0; e < count; e++) {
    const a = corner[2 * e];
    const b = corner[2 * e + 1];
    const isFreeA = inverseMass[a] === 0;
    const isFreeB = inverseMass[b] === 0;
    const taken = (isFreeA ? 0 : used[a]) | (isFreeB ? 0 : used[b]);
    let free: number;
    if (taken !== ALL_USED) {
      // The lowest bit that is not set.
      const bit = ~taken & (taken + 1);
      free = 31 - Math.clz32(bit);
      used[a] |= bit;
      used[b] |= bit;
    } else {
      beyond ??= new UsedColours(inverseMass.length);
      free = beyond.smallestFree(e, isFreeA ? -1 : a, isFreeB ? -1 : b);
      beyond.add(free, a);
      beyond.add(free, b);
    }
    colour[e] = free;
    if (free === sizes.length) sizes.push(0);
    sizes[free]++;
  }
  const offsets = new Uint32Array(sizes.length + 1);
  for (let c = 0; c < sizes.length; c++) offsets[c + 1] = offsets[c] + sizes[c];
  return { colour, offsets, colours: sizes.length };
}

const ALL_USED = -1;

/** Colours from 32 on by vertex, for the few vertices with more edges than that. */
class UsedColours {
  readonly #head: Int32Array;
  #next: number[] = [];
  #colour: number[] = [];
  /** by colour: the last edge for which it was in use */
  #seenBy: number[] = [];

  constructor(vertexCount: number) {
    this.#head = new Int32Array(vertexCount).fill(-1);
  }

  add(colour: number, vertex: number): void {
    this.#next.push(this.#head[vertex]);
    this.#colour.push(colour);
    this.#head[vertex] = this.#next.length - 1;
  }

  /** Returns the smallest colour from 32 on that neither vertex uses; −1 = no vertex. */
  smallestFree(edge: number, a: number, b: number): number {
    for (const vertex of [a, b]) {
      if (vertex < 0) continue;
      for (let n = this.#head[vertex]; n >= 0; n = this.#next[n]) this.#seenBy[this.#colour[n]] = edge;
    }
    let free = 32;
    while (this.#seenBy[free] === edge) free++;
    return free;
  }
}

/**
 * Colouring of the contacts by random priority, renewed every step: a constraint's colour is one more than the largest
 * colour of the conflicting constraints that precede it in the permutation. A sweep colour by colour then equals a
 * sweep in the order of the permutation, and a sweep on a device where every constraint waits for its conflicting
 * predecessors.
 *
 * @param corner int32[4·n] vertices of each constraint, −1 where unused
 */
export function colourContacts(count: number, corner: Int32Array, inverseMass: Float32Array, seed: number): Colouring {
  const permutation = new Permutation(count, seed);
  const colour = new Uint32Array(count);
  const level = levelOf(inverseMass.length);
  let colours = 0;
  for (let n = 0; n < count; n++) {
    const c = permutation.at(n);
    let above = 0;
    for (let s = 4 * c; s < 4 * c + 4; s++) {
      const v = corner[s];
      if (v >= 0 && inverseMass[v] !== 0 && level[v] > above) above = level[v];
    }
    colour[c] = above;
    if (above + 1 > colours) colours = above + 1;
    for (let s = 4 * c; s < 4 * c + 4; s++) if (corner[s] >= 0) level[corner[s]] = above + 1;
  }
  for (let s = 0; s < 4 * count; s++) if (corner[s] >= 0) level[corner[s]] = 0;
  const offsets = offsetsOf(colour, colours);
  const next = offsets.slice();
  const order = new Uint32Array(count);
  for (let c = 0; c < count; c++) order[next[colour[c]]++] = c;
  return { order, offsets, colours };
}

// All zero between calls: clearing the entries in use is cheaper than clearing those of all vertices in every step.
let levels = new Uint32Array(0);
function levelOf(vertexCount: number): Uint32Array {
  if (levels.length < vertexCount) levels = new Uint32Array(vertexCount);
  return levels;
}

/**
 * Seeded permutation of 0 … n−1: odd multiplications and xorshifts are bijections on k bits. Images ≥ n are mapped
 * again, which are fewer than half because 2^k < 2n. So no two constraints have the same priority.
 */
export class Permutation {
  readonly #count: number;
  readonly #mask: number;
  readonly #shift: number;
  readonly #a: number;
  readonly #b: number;
  readonly #c: number;

  constructor(count: number, seed: number) {
    const bits = Math.max(1, 32 - Math.clz32(Math.max(0, count - 1)));
    this.#count = count;
    this.#mask = bits === 32 ? -1 : (1 << bits) - 1;
    this.#shift = Math.max(1, bits >> 1);
    this.#a = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 1;
    this.#b = Math.imul(seed + 0x7f4a7c15, 0xc2b2ae35);
    this.#c = Math.imul(seed ^ 0x27d4eb2f, 0x165667b1) | 1;
  }

  /** Image of n, for n < count. */
  at(n: number): number {
    let v = n;
    do {
      v = (Math.imul(v, this.#a) + this.#b) & this.#mask;
      v ^= v >>> this.#shift;
      v = Math.imul(v, this.#c) & this.#mask;
      v ^= v >>> this.#shift;
    } while (v >= this.#count);
    return v;
  }
}

function offsetsOf(colour: Uint32Array, colours: number): Uint32Array<ArrayBuffer> {
  const offsets = new Uint32Array(colours + 1);
  for (let c = 0; c < colour.length; c++) offsets[colour[c] + 1]++;
  for (let c = 0; c < colours; c++) offsets[c + 1] += offsets[c];
  return offsets;
}
