import { CONTACTS_PER_VERTEX } from '../constants.js';
import { keysOf } from './contact-keys.js';
import type { PairSet } from './pair-set.js';
import { Scratch } from './workspace.js';

/** Pairs between two calls of a pulse: less than a millisecond. */
const PAIRS_PER_PULSE = 4096;

/**
 * The pairs that become constraints. Of near-duplicates (the same vertices of non-zero weight, found through several
 * incident elements) only the closest counts, and a pair is kept only if it is among the CONTACTS_PER_VERTEX closest at
 * each of its movable vertices. Ranks are by distance, then by index in P: independent of the order of the list.
 *
 * Takes up to 36 bytes for each listed pair, and 104 for each vertex that has too many.
 *
 * @param list uint32[listLength] pairs with current geometry; in ascending order it need not be sorted first
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
  const sorted = isAscending(list, listLength) ? list : list.slice(0, listLength).sort();
  const key = keysOf(pairs, sorted, listLength, inverseMass, scratch, pulse);
  const listed = { key, distance: pairs.distance, list: sorted, inverseMass };
  const unique = dropDuplicates(listed, listLength, scratch, pulse);
  let crowded = 0;
  for (let k = 0; k < unique.length; k++) {
    for (let s = 4 * unique[k], end = s + 4; s < end; s++) {
      if (isMovable(listed, s) && ++tally[key[s]] === CONTACTS_PER_VERTEX + 1) crowded++;
    }
  }
  if (crowded > 0) markFarther(listed, unique, tally, crowded, scratch, pulse);
  let count = 0;
  for (let k = 0; k < unique.length; k++) {
    const n = unique[k];
    for (let s = 4 * n; s < 4 * n + 4; s++) if (key[s] >= 0) tally[key[s]] = 0;
    if (key[4 * n] !== DROPPED) unique[count++] = sorted[n];
  }
  return unique.subarray(0, count);
}

/** What the selection reads of the listed pairs. */
interface Listed {
  /** of contact-keys.ts; the first entry of a pair that is dropped becomes {@link DROPPED} */
  readonly key: Int32Array;
  /** float32[P] */
  readonly distance: Float32Array;
  /** uint32[n] ascending, so that places in it have the order of P */
  readonly list: Uint32Array;
  readonly inverseMass: Float32Array;
}

/** In place of a vertex. */
const DROPPED = -2;

/** Whether an entry of a key is a vertex that can be moved. */
function isMovable({ key, inverseMass }: Listed, entry: number): boolean {
  return key[entry] >= 0 && inverseMass[key[entry]] > 0;
}

/** Whether a place in the list has the farther pair of two. */
function isFarther({ distance, list }: Listed, n: number, m: number): boolean {
  const difference = distance[list[n]] - distance[list[m]];
  return difference > 0 || (difference === 0 && n > m);
}

function isAscending(list: Uint32Array, length: number): boolean {
  for (let n = 1; n < length; n++) if (list[n] < list[n - 1]) return false;
  return true;
}

/**
 * Marks as dropped the pairs that are not among the CONTACTS_PER_VERTEX closest at each of their movable vertices. A vertex with
 * more has a heap of its closest ones with the farthest of these on top; a pair that is farther than that is dropped.
 *
 * @param unique places in the list, ascending
 * @param tally int32[V] pairs at each vertex
 * @param crowded number of vertices with more than CONTACTS_PER_VERTEX
 */
function markFarther(
  listed: Listed,
  unique: Int32Array,
  tally: Int32Array,
  crowded: number,
  scratch: Scratch,
  pulse: () => void,
): void {
  const { key } = listed;
  const heaps = scratch.int32('closest contacts', CONTACTS_PER_VERTEX * crowded);
  const sizes = scratch.int32('sizes of closest contacts', crowded).fill(0);
  const heapOf = scratch.int32('heap of a vertex', tally.length);
  let next = 0;
  for (let v = 0; v < tally.length; v++) heapOf[v] = tally[v] > CONTACTS_PER_VERTEX ? next++ : -1;
  for (let k = 0; k < unique.length; k++) {
    if (k % PAIRS_PER_PULSE === 0) pulse();
    const n = unique[k];
    for (let s = 4 * n; s < 4 * n + 4; s++) {
      const heap = isMovable(listed, s) ? heapOf[key[s]] : -1;
      if (heap < 0) continue;
      const first = CONTACTS_PER_VERTEX * heap;
      if (sizes[heap] < CONTACTS_PER_VERTEX) raise(listed, heaps, first, sizes[heap]++, n);
      else if (isFarther(listed, heaps[first], n)) sink(listed, heaps, first, n);
    }
  }
  for (let k = 0; k < unique.length; k++) {
    const n = unique[k];
    let isKept = true;
    for (let s = 4 * n; s < 4 * n + 4; s++) {
      const heap = isMovable(listed, s) ? heapOf[key[s]] : -1;
      if (heap >= 0 && isFarther(listed, n, heaps[CONTACTS_PER_VERTEX * heap])) isKept = false;
    }
    // Its last entry is a vertex, whose tally is still to be cleared; so is its first, if it has four.
    if (isKept) continue;
    if (key[4 * n] >= 0) tally[key[4 * n]] = 0;
    key[4 * n] = DROPPED;
  }
}

/** Adds a place to a heap of `size` places, the farthest of which is its first. */
function raise(listed: Listed, heaps: Int32Array, first: number, size: number, n: number): void {
  let at = size;
  for (; at > 0; ) {
    const parent = (at - 1) >> 1;
    if (!isFarther(listed, n, heaps[first + parent])) break;
    heaps[first + at] = heaps[first + parent];
    at = parent;
  }
  heaps[first + at] = n;
}

/** Replaces the first entry of a full heap. */
function sink(listed: Listed, heaps: Int32Array, first: number, n: number): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= CONTACTS_PER_VERTEX) break;
    const right = child + 1;
    if (right < CONTACTS_PER_VERTEX && isFarther(listed, heaps[first + right], heaps[first + child])) child = right;
    if (!isFarther(listed, heaps[first + child], n)) break;
    heaps[first + at] = heaps[first + child];
    at = child;
  }
  heaps[first + at] = n;
}

/** @returns places in the list of the closest pair of each key that can have a row, ascending */
function dropDuplicates(listed: Listed, length: number, scratch: Scratch, pulse: () => void): Int32Array {
  const { key } = listed;
  const slots = 1 << (32 - Math.clz32(Math.max(16, 2 * length)));
  const table = scratch.int32('unique contacts', slots).fill(-1);
  for (let n = 0; n < length; n++) {
    if (n % PAIRS_PER_PULSE === 0) pulse();
    const q = 4 * n;
    if (key[q + 3] < 0) continue;
    let hash = 0;
    for (let s = q; s < q + 4; s++) hash = Math.imul(hash ^ key[s], 0x9e3779b1) ^ (hash >>> 15);
    let slot = hash & (slots - 1);
    for (; table[slot] >= 0; slot = (slot + 1) & (slots - 1)) {
      const r = 4 * table[slot];
      if (key[q] === key[r] && key[q + 1] === key[r + 1] && key[q + 2] === key[r + 2] && key[q + 3] === key[r + 3])
        break;
    }
    if (table[slot] < 0 || isFarther(listed, table[slot], n)) table[slot] = n;
  }
  const unique = scratch.int32('contacts without duplicates', length);
  unique.fill(0);
  for (let slot = 0; slot < slots; slot++) if (table[slot] >= 0) unique[table[slot]] = 1;
  let count = 0;
  for (let n = 0; n < length; n++) if (unique[n] === 1) unique[count++] = n;
  return unique.subarray(0, count);
}
