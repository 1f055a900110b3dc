import { team } from '../../threads/here.js';
import { defineStage, type NoNumbers } from '../../threads/stage.js';
import { CONTACTS_PER_VERTEX } from '../constants.js';
import { DROPPED, isFarther, isMovable, type ListedContacts, SELECTION_CHUNK } from './listed-contacts.js';
import type { Scratch } from './workspace.js';

/** Nanoseconds per pair. */
const COST = 40;

interface TallyArrays extends ListedContacts {
  /** int32[n] places in the list */
  readonly unique: Int32Array;
  /** int32[V] pairs at each movable vertex */
  readonly tally: Int32Array;
  /** int32[1] number of vertices with more than CONTACTS_PER_VERTEX */
  readonly crowded: Int32Array;
}

const TALLY = defineStage(import.meta.url, 'tally contacts', tallyContacts);

function tallyContacts(arrays: TallyArrays, _: NoNumbers, from: number, to: number): void {
  const { unique, key, tally, crowded } = arrays;
  for (let k = from; k < to; k++) {
    for (let s = 4 * unique[k], end = s + 4; s < end; s++) {
      if (isMovable(arrays, s) && Atomics.add(tally, key[s], 1) === CONTACTS_PER_VERTEX) Atomics.add(crowded, 0, 1);
    }
  }
}

interface CrowdArrays extends ListedContacts {
  readonly unique: Int32Array;
  /** int32[V] the crowd at a vertex, −1 = it has no more contacts than it may keep */
  readonly crowdOf: Int32Array;
  /** int32[C] end of the members entered so far in each crowd, finally of the whole crowd */
  readonly ends: Int32Array;
  /** int32[…] places in the list, crowd by crowd */
  readonly members: Int32Array;
}

const GATHER = defineStage(import.meta.url, 'gather crowds', gatherCrowds);

/** The order of the members depends on the threads; the result does not. */
function gatherCrowds(arrays: CrowdArrays, _: NoNumbers, from: number, to: number): void {
  const { unique, key, crowdOf, ends, members } = arrays;
  for (let k = from; k < to; k++) {
    const n = unique[k];
    for (let s = 4 * n; s < 4 * n + 4; s++) {
      const crowd = isMovable(arrays, s) ? crowdOf[key[s]] : -1;
      if (crowd >= 0) members[Atomics.add(ends, crowd, 1)] = n;
    }
  }
}

interface LastArrays extends ListedContacts {
  readonly ends: Int32Array;
  /** int32[…] overwritten */
  readonly members: Int32Array;
  /** int32[C] place of the farthest pair that the vertex keeps */
  readonly last: Int32Array;
}

const CROWD_CHUNK = 64;
/** Nanoseconds per crowd. */
const CROWD_COST = 2000;

const FIND_LAST = defineStage(import.meta.url, 'last kept contacts', findLast);

/** Makes the first CONTACTS_PER_VERTEX members a heap of the closest ones, with the farthest of these on top. */
function findLast(arrays: LastArrays, _: NoNumbers, from: number, to: number): void {
  const { ends, members, last } = arrays;
  for (let crowd = from; crowd < to; crowd++) {
    const first = crowd === 0 ? 0 : ends[crowd - 1];
    for (let size = 1; size < CONTACTS_PER_VERTEX; size++) raise(arrays, members, first, size, members[first + size]);
    for (let at = first + CONTACTS_PER_VERTEX; at < ends[crowd]; at++) {
      if (isFarther(arrays, members[first], members[at])) sink(arrays, members, first, members[at]);
    }
    last[crowd] = members[first];
  }
}

/** Adds a place to a heap of `size` places, the farthest of which is its first. */
function raise(listed: ListedContacts, heaps: Int32Array, first: number, size: number, n: number): void {
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
function sink(listed: ListedContacts, heaps: Int32Array, first: number, n: number): void {
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

interface DropArrays extends ListedContacts {
  readonly unique: Int32Array;
  readonly crowdOf: Int32Array;
  readonly last: Int32Array;
}

const DROP = defineStage(import.meta.url, 'drop farther contacts', dropFarther);

function dropFarther(arrays: DropArrays, _: NoNumbers, from: number, to: number): void {
  const { unique, key, crowdOf, last } = arrays;
  for (let k = from; k < to; k++) {
    const n = unique[k];
    let isKept = true;
    for (let s = 4 * n; s < 4 * n + 4; s++) {
      const crowd = isMovable(arrays, s) ? crowdOf[key[s]] : -1;
      if (crowd >= 0 && isFarther(arrays, n, last[crowd])) isKept = false;
    }
    if (!isKept) key[4 * n] = DROPPED;
  }
}

/**
 * Marks as dropped the pairs that are not among the CONTACTS_PER_VERTEX closest at each of their movable vertices.
 *
 * @param unique int32[n] places in the list
 * @param pulse called at short intervals; may throw
 */
export function markFarther(listed: ListedContacts, unique: Int32Array, scratch: Scratch, pulse: () => void): void {
  const crowded = scratch.int32('crowded vertices', 1).fill(0);
  const shared = { count: unique.length, chunk: SELECTION_CHUNK, cost: COST, pulse };
  const tally = scratch.int32('contact tally', listed.inverseMass.length).fill(0);
  team.run({ stage: TALLY, arrays: { ...listed, unique, tally, crowded }, numbers: {}, ...shared });
  const crowds = crowded[0];
  if (crowds === 0) return;
  const crowdOf = scratch.int32('crowd of a vertex', tally.length);
  const ends = scratch.int32('ends of crowds', crowds);
  let next = 0;
  let sum = 0;
  for (let v = 0; v < tally.length; v++) {
    crowdOf[v] = tally[v] > CONTACTS_PER_VERTEX ? next : -1;
    if (crowdOf[v] < 0) continue;
    ends[next++] = sum;
    sum += tally[v];
  }
  // This reuses the memory of the table of contacts, which is no longer needed.
  const members = scratch.int32('contact table', sum);
  team.run({ stage: GATHER, arrays: { ...listed, unique, crowdOf, ends, members }, numbers: {}, ...shared });
  const last = scratch.int32('last kept contacts', crowds);
  team.run({
    ...{ stage: FIND_LAST, arrays: { ...listed, ends, members, last }, numbers: {} },
    ...{ count: crowds, chunk: CROWD_CHUNK, cost: CROWD_COST, pulse },
  });
  team.run({ stage: DROP, arrays: { ...listed, unique, crowdOf, last }, numbers: {}, ...shared });
}
