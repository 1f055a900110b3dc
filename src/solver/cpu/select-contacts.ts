import { CONTACTS_PER_VERTEX, MIN_MOVABLE_WEIGHT } from '../constants.js';
import type { PairSet } from './pair-set.js';
import { Scratch } from './workspace.js';

/** Pairs between two calls of a pulse: less than a millisecond. */
const PAIRS_PER_PULSE = 4096;

/**
 * The pairs that become constraints. Of near-duplicates (the same vertices of non-zero weight, found through several
 * incident elements) only the closest counts, and a pair is kept only if it is among the CONTACTS_PER_VERTEX closest at
 * each of its movable vertices. Ranks are by distance, then by index in P: independent of the order of the list.
 *
 * Takes up to 16 bytes for each listed pair, and 104 for each vertex that has too many.
 *
 * @param list uint32[listLength] pairs with current geometry
 * @param tally int32[V] scratch, all zero before and after, unless `pulse` has thrown
 * @param scratch holds what is returned, until the next call with it
 * @param pulse called at short intervals; may throw
 * @returns indices into P, ascending
 */
export function selectContacts(
  pairs: PairSet,
  list: Uint32Array,
  listLength: number,
  inverseMass: Float32Array,
  tally: Int32Array,
  scratch = new Scratch(),
  pulse: () => void = () => {},
): Int32Array {
  const unique = dropDuplicates(pairs, list, listLength, inverseMass, scratch, pulse);
  let crowded = 0;
  for (let n = 0; n < unique.length; n++) {
    for (let s = 4 * unique[n], end = s + 4; s < end; s++) {
      if (isMovable(pairs, s, inverseMass) && ++tally[pairs.vertex[s]] === CONTACTS_PER_VERTEX + 1) crowded++;
    }
  }
  const kept = crowded > 0 ? keepClosest(pairs, unique, inverseMass, tally, crowded, scratch, pulse) : unique;
  for (let n = 0; n < unique.length; n++) {
    for (let s = 4 * unique[n], end = s + 4; s < end; s++) if (pairs.vertex[s] >= 0) tally[pairs.vertex[s]] = 0;
  }
  // The tally needs all unique pairs, so the kept ones lie behind them until here.
  if (kept !== unique) unique.set(kept);
  return unique.subarray(0, kept.length);
}

/** Whether the vertex in a slot takes part in its pair and can be moved. */
function isMovable({ vertex, weight }: PairSet, slot: number, inverseMass: Float32Array): boolean {
  const v = vertex[slot];
  return v >= 0 && weight[slot] > 0 && inverseMass[v] > 0;
}

/**
 * Drops the pairs that are not among the CONTACTS_PER_VERTEX closest at each of their movable vertices. A vertex with more has
 * a heap of its closest ones with the farthest of these on top; a pair that is farther than that is dropped.
 *
 * @param tally int32[V] pairs at each vertex
 * @param crowded number of vertices with more than CONTACTS_PER_VERTEX
 * @returns those kept, in the same order
 */
function keepClosest(
  pairs: PairSet,
  unique: Int32Array,
  inverseMass: Float32Array,
  tally: Int32Array,
  crowded: number,
  scratch: Scratch,
  pulse: () => void,
): Int32Array {
  const { distance, vertex } = pairs;
  const isFarther = (p: number, q: number): boolean => (distance[p] - distance[q] || p - q) > 0;
  const heaps = scratch.int32('closest contacts', CONTACTS_PER_VERTEX * crowded);
  const sizes = scratch.int32('sizes of closest contacts', crowded).fill(0);
  const heapOf = scratch.int32('heap of a vertex', inverseMass.length);
  let next = 0;
  for (let v = 0; v < tally.length; v++) heapOf[v] = tally[v] > CONTACTS_PER_VERTEX ? next++ : -1;
  for (let n = 0; n < unique.length; n++) {
    if (n % PAIRS_PER_PULSE === 0) pulse();
    const p = unique[n];
    for (let s = 4 * p; s < 4 * p + 4; s++) {
      if (!isMovable(pairs, s, inverseMass) || heapOf[vertex[s]] < 0) continue;
      const heap = heapOf[vertex[s]];
      const first = CONTACTS_PER_VERTEX * heap;
      if (sizes[heap] < CONTACTS_PER_VERTEX) raise(heaps, first, sizes[heap]++, p, isFarther);
      else if (isFarther(heaps[first], p)) sink(heaps, first, p, isFarther);
    }
  }
  const kept = scratch.int32('kept contacts', unique.length);
  let count = 0;
  for (let n = 0; n < unique.length; n++) {
    const p = unique[n];
    let isKept = true;
    for (let s = 4 * p; s < 4 * p + 4; s++) {
      if (!isMovable(pairs, s, inverseMass)) continue;
      const heap = heapOf[vertex[s]];
      if (heap >= 0 && isFarther(p, heaps[CONTACTS_PER_VERTEX * heap])) isKept = false;
    }
    if (isKept) kept[count++] = p;
  }
  return kept.subarray(0, count);
}

/** Adds an entry to a heap of `size` entries, the farthest of which is its first. */
function raise(
  heaps: Int32Array,
  first: number,
  size: number,
  p: number,
  isFarther: (p: number, q: number) => boolean,
): void {
  let at = size;
  for (; at > 0; ) {
    const parent = (at - 1) >> 1;
    if (!isFarther(p, heaps[first + parent])) break;
    heaps[first + at] = heaps[first + parent];
    at = parent;
  }
  heaps[first + at] = p;
}

/** Replaces the first entry of a full heap. */
function sink(heaps: Int32Array, first: number, p: number, isFarther: (p: number, q: number) => boolean): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= CONTACTS_PER_VERTEX) break;
    const right = child + 1;
    if (right < CONTACTS_PER_VERTEX && isFarther(heaps[first + right], heaps[first + child])) child = right;
    if (!isFarther(heaps[first + child], p)) break;
    heaps[first + at] = heaps[first + child];
    at = child;
  }
  heaps[first + at] = p;
}

function dropDuplicates(
  pairs: PairSet,
  list: Uint32Array,
  length: number,
  inverseMass: Float32Array,
  scratch: Scratch,
  pulse: () => void,
): Int32Array {
  const slots = 1 << (32 - Math.clz32(Math.max(16, 2 * length)));
  const table = scratch.int32('unique contacts', slots).fill(-1);
  const key = new Int32Array(8);
  for (let n = 0; n < length; n++) {
    if (n % PAIRS_PER_PULSE === 0) pulse();
    const p = list[n];
    if (!hasMovableWeight(pairs, p, inverseMass)) continue;
    featureKey(pairs, p, key, 0);
    let hash = 0;
    for (let s = 0; s < 4; s++) hash = Math.imul(hash ^ key[s], 0x9e3779b1) ^ (hash >>> 15);
    let slot = hash & (slots - 1);
    for (; table[slot] >= 0; slot = (slot + 1) & (slots - 1)) {
      featureKey(pairs, table[slot], key, 4);
      if (key[0] === key[4] && key[1] === key[5] && key[2] === key[6] && key[3] === key[7]) break;
    }
    const other = table[slot];
    const nearer = other < 0 ? -1 : pairs.distance[p] - pairs.distance[other] || p - other;
    if (nearer < 0) table[slot] = p;
  }
  let count = 0;
  for (let slot = 0; slot < slots; slot++) if (table[slot] >= 0) table[count++] = table[slot];
  return table.subarray(0, count).sort();
}

function hasMovableWeight(pairs: PairSet, p: number, inverseMass: Float32Array): boolean {
  for (let s = 4 * p; s < 4 * p + 4; s++) {
    const v = pairs.vertex[s];
    if (v >= 0 && inverseMass[v] > 0 && pairs.weight[s] >= MIN_MOVABLE_WEIGHT) return true;
  }
  return false;
}

/** Sorted ids of the vertices with non-zero weight, −1 in front where there are fewer than four. */
function featureKey(pairs: PairSet, p: number, key: Int32Array, at: number): void {
  for (let s = 0; s < 4; s++) {
    const v = pairs.weight[4 * p + s] > 0 ? pairs.vertex[4 * p + s] : -1;
    let n = at + s;
    for (; n > at && key[n - 1] > v; n--) key[n] = key[n - 1];
    key[n] = v;
  }
}
