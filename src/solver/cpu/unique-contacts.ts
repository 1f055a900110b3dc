import { team } from '../../threads/here.js';
import { defineStage, type NoNumbers } from '../../threads/stage.js';
import { isFarther, type ListedContacts, SELECTION_CHUNK } from './listed-contacts.js';
import type { Scratch } from './workspace.js';

interface TableArrays extends ListedContacts {
  /** int32[2^k] position of a pair in the list, −1 = empty */
  readonly table: Int32Array;
}

interface TableNumbers {
  /** 2^k − 1 */
  readonly mask: number;
}

/** Nanoseconds per pair: the table is larger than the caches. */
const ENTER_COST = 100;

const ENTER = defineStage(import.meta.url, 'enter contacts', enterContacts);

/**
 * Enters each pair that can have a row at the first slot, from that of its key's hash on, that is empty or has its key.
 * The closest pair of each key remains there, regardless of the order of threads: a slot that is taken keeps its key,
 * so all pairs of a key find the same slot, and only a closer pair replaces its content.
 */
function enterContacts(arrays: TableArrays, { mask }: TableNumbers, from: number, to: number): void {
  const { key, table } = arrays;
  for (let n = from; n < to; n++) {
    const q = 4 * n;
    if (key[q + 3] < 0) continue;
    let hash = 0;
    for (let s = q; s < q + 4; s++) hash = Math.imul(hash ^ key[s], 0x9e3779b1) ^ (hash >>> 15);
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      let there = Atomics.load(table, slot);
      if (there < 0) there = Atomics.compareExchange(table, slot, -1, n);
      if (there < 0) break;
      const r = 4 * there;
      if (key[q] !== key[r] || key[q + 1] !== key[r + 1] || key[q + 2] !== key[r + 2] || key[q + 3] !== key[r + 3]) {
        continue;
      }
      while (isFarther(arrays, there, n)) {
        const before = Atomics.compareExchange(table, slot, there, n);
        if (before === there) break;
        there = before;
      }
      break;
    }
  }
}

interface MarkArrays {
  readonly table: Int32Array;
  /** int32[n] 1 = in the table */
  readonly marks: Int32Array;
}

const MARK_CHUNK = 16_384;
/** Nanoseconds per slot. */
const MARK_COST = 3;

const MARK = defineStage(import.meta.url, 'mark unique contacts', markUnique);

function markUnique({ table, marks }: MarkArrays, _: NoNumbers, from: number, to: number): void {
  for (let slot = from; slot < to; slot++) if (table[slot] >= 0) marks[table[slot]] = 1;
}

/**
 * @param pulse called at short intervals; may throw
 * @returns positions in the list of the closest pair of each key that can have a row, ascending
 */
export function dropDuplicates(
  listed: ListedContacts,
  length: number,
  scratch: Scratch,
  pulse: () => void,
): Int32Array {
  const slots = 1 << (32 - Math.clz32(Math.max(16, 2 * length)));
  const table = scratch.int32('contact table', slots).fill(-1);
  const numbers = { mask: slots - 1 };
  const arrays = { ...listed, table };
  team.run({ stage: ENTER, arrays, numbers, count: length, chunk: SELECTION_CHUNK, cost: ENTER_COST, pulse });
  const marks = scratch.int32('contacts without duplicates', length).fill(0);
  team.run({ stage: MARK, arrays: { table, marks }, numbers: {}, count: slots, chunk: MARK_CHUNK, cost: MARK_COST });
  let count = 0;
  for (let n = 0; n < length; n++) if (marks[n] === 1) marks[count++] = n;
  return marks.subarray(0, count);
}
