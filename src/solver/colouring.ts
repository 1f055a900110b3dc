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

/**
 * Greedy colouring of the edges in index order with the smallest free colour, once per topology.
 *
 * @param corner uint32[2·n] the vertices of each constraint
 * @param inverseMass float32[V] vertices with 0 cannot move and create no conflict
 */
export function colourEdges(corner: Uint32Array, inverseMass: Float32Array): Colouring {
  const count = corner.length / 2;
  const colour = new Uint32Array(count);
  // Colours used so far at each vertex, as a linked list: edge e is node 2e at its first vertex, 2e + 1 at its second.
  const head = new Int32Array(inverseMass.length).fill(-1);
  const next = new Int32Array(2 * count).fill(-1);
  let usedBy = new Int32Array(64).fill(-1);
  let colours = 0;
  for (let e = 0; e < count; e++) {
    for (let s = 0; s < 2; s++) {
      const v = corner[2 * e + s];
      if (inverseMass[v] === 0) continue;
      for (let node = head[v]; node >= 0; node = next[node]) usedBy[colour[node >> 1]] = e;
    }
    let free = 0;
    while (usedBy[free] === e) free++;
    colour[e] = free;
    if (free + 1 > colours) colours = free + 1;
    if (colours >= usedBy.length) {
      const grown = new Int32Array(2 * usedBy.length).fill(-1);
      grown.set(usedBy);
      usedBy = grown;
    }
    for (let s = 0; s < 2; s++) {
      const v = corner[2 * e + s];
      next[2 * e + s] = head[v];
      head[v] = 2 * e + s;
    }
  }
  return gather(colour, colours, count);
}

/**
 * Colouring of the contacts by random priority, renewed every step: a constraint's colour is one more than the largest
 * colour of the conflicting constraints that precede it in the permutation. A sweep colour by colour then equals a sweep in
 * the order of the permutation, and a sweep on a device where every constraint waits for its conflicting predecessors.
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
  return gather(colour, colours, count);
}

// All zero between calls: to clear the entries in use is cheaper than to clear those of all vertices every step.
let levels = new Uint32Array(0);
function levelOf(vertexCount: number): Uint32Array {
  if (levels.length < vertexCount) levels = new Uint32Array(vertexCount);
  return levels;
}

/**
 * Seeded permutation of 0 … n−1: odd multiplications and xorshifts are bijections on k bits. Images ≥ n are mapped again,
 * which are fewer than half because 2^k < 2n. So no two constraints have the same priority.
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

function gather(colour: Uint32Array, colours: number, count: number): Colouring {
  const offsets = new Uint32Array(colours + 1);
  for (let e = 0; e < count; e++) offsets[colour[e] + 1]++;
  for (let c = 0; c < colours; c++) offsets[c + 1] += offsets[c];
  const fill = offsets.slice();
  const order = new Uint32Array(count);
  for (let e = 0; e < count; e++) order[fill[colour[e]]++] = e;
  return { order, offsets, colours };
}
