import { markFarther } from './closest-contacts.js';
import { keysOf } from './contact-keys.js';
import { DROPPED } from './listed-contacts.js';
import type { PairSet } from './pair-set.js';
import { dropDuplicates } from './unique-contacts.js';
import { Scratch } from './workspace.js';

/**
 * The pairs that become constraints. Of near-duplicates (the same vertices of non-zero weight, found through several
 * incident elements) only the closest counts, and a pair is kept only if it is among the CONTACTS_PER_VERTEX closest at
 * each of its movable vertices. Ranks are by distance, then by index in P: independent of the order of the list, and of
 * the threads.
 *
 * Takes up to 36 bytes for each listed pair, 8 for each vertex, and 8 more for each vertex with too many pairs.
 *
 * @param list uint32[listLength] pairs with current geometry; in ascending order it need not be sorted first
 * @param scratch holds the result until the next call with it
 * @param pulse called at short intervals; may throw
 * @returns indices into P, ascending
 */
export function selectContacts(
  pairs: PairSet,
  list: Uint32Array,
  listLength: number,
  inverseMass: Float32Array,
  scratch = new Scratch(),
  pulse: () => void = () => {},
): Int32Array {
  const sorted = isAscending(list, listLength) ? list : list.slice(0, listLength).sort();
  const key = keysOf(pairs, sorted, listLength, inverseMass, scratch, pulse);
  const listed = { key, distance: pairs.distance, list: sorted, inverseMass };
  const unique = dropDuplicates(listed, listLength, scratch, pulse);
  markFarther(listed, unique, scratch, pulse);
  let count = 0;
  for (let k = 0; k < unique.length; k++) {
    const n = unique[k];
    if (key[4 * n] !== DROPPED) unique[count++] = sorted[n];
  }
  return unique.subarray(0, count);
}

function isAscending(list: Uint32Array, length: number): boolean {
  for (let n = 1; n < length; n++) if (list[n] < list[n - 1]) return false;
  return true;
}
