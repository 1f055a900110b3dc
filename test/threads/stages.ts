import { defineStage } from '../../src/threads/stage.js';

/** Writes n² and who computed it; takes a while, so that helpers get a share. */
export const SQUARES = defineStage(
  import.meta.url,
  'squares',
  (
    { squares, by }: { readonly squares: Float64Array; readonly by: Int32Array },
    { rounds }: { readonly rounds: number },
    from,
    to,
    slot,
  ) => {
    for (let n = from; n < to; n++) {
      let sum = 0;
      for (let k = 0; k < rounds; k++) sum += (n * n) / rounds;
      squares[n] = Math.round(sum);
      by[n] = slot;
    }
  },
);

/** Fails at one item, on every thread. */
export const FAILING = defineStage(
  import.meta.url,
  'failing',
  ({ done }: { readonly done: Int32Array }, { bad }: { readonly bad: number }, from, to) => {
    for (let n = from; n < to; n++) {
      if (n === bad) throw new RangeError(`item ${n}`);
      for (let k = 0; k < 10_000; k++) done[n] += k & 1;
      done[n] = 1;
    }
  },
);

/** Fails on helpers only, at every chunk; the asking thread takes a while for each of its own. */
export const UNHELPED = defineStage(
  import.meta.url,
  'unhelped',
  ({ done }: { readonly done: Int32Array }, _, from, to, slot) => {
    if (slot > 0) throw new RangeError('not on a helper');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    for (let n = from; n < to; n++) done[n]++;
  },
);

/** Takes a helper a fifth of a second a chunk. */
export const UNHURRIED = defineStage(
  import.meta.url,
  'unhurried',
  ({ done }: { readonly done: Int32Array }, _, from, to, slot) => {
    if (slot > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    for (let n = from; n < to; n++) done[n]++;
  },
);

/** Ends the helper that gets an item of it, in the middle of its chunk; the asking thread computes its own. */
export const DEADLY = defineStage(
  import.meta.url,
  'deadly',
  ({ done }: { readonly done: Int32Array }, _, from, to, slot) => {
    if (slot > 0) {
      Atomics.store(done, 0, 1);
      process.exit(3);
    }
    // This thread goes on only when a helper has a chunk.
    while (Atomics.load(done, 0) === 0) Atomics.wait(done, 0, 0, 20);
    for (let n = Math.max(1, from); n < to; n++) done[n] = 1;
  },
);

/** Waits for a long time on a helper. */
export const SLOW = defineStage(
  import.meta.url,
  'slow',
  ({ done }: { readonly done: Int32Array }, _, from, to, slot) => {
    if (slot > 0) {
      Atomics.add(done, 0, 1);
      Atomics.notify(done, 0);
      Atomics.wait(done, 1, 0, 700);
    } else if (Atomics.load(done, 0) === 0) Atomics.wait(done, 0, 0, 5000);
    for (let n = Math.max(2, from); n < to; n++) done[n]++;
  },
);

/** Each chunk writes one more than the largest number of the chunks before its turn. */
export const TURNS = defineStage(
  import.meta.url,
  'turns',
  (
    { after, levels, by }: { readonly after: Uint32Array; readonly levels: Int32Array; readonly by: Int32Array },
    { bad, work }: { readonly bad: number; readonly work: number },
    from,
    to,
    slot,
  ) => {
    for (let n = from; n < to; n++) {
      if (n === bad) throw new RangeError(`chunk ${n}`);
      let level = 0;
      for (let m = 0; m < after[n]; m++) level = Math.max(level, levels[m] === 0 ? 1e6 : levels[m]);
      for (let k = 0; k < work; k++) levels[n] = k & 1;
      levels[n] = level + 1;
      by[n] = slot;
    }
  },
);

/** The same, of which helpers compute nothing. */
export const TURNS_UNHELPED = defineStage(
  import.meta.url,
  'turns unhelped',
  (
    { after, levels }: { readonly after: Uint32Array; readonly levels: Int32Array },
    _: Readonly<Record<never, number>>,
    from,
    to,
    slot,
  ) => {
    if (slot > 0) throw new Error('not here');
    for (let n = from; n < to; n++) levels[n] = 1 + (after[n] > 0 ? levels[after[n] - 1]! : 0);
  },
);
