/*
 * Two kinds of shared words. The process has one board, on which helpers wait and threads are counted; every thread
 * that may use helpers has one control block, which describes its current run.
 *
 * A run has tickets, one per chunk. The word NEXT counts tickets over all runs and wraps at 2^32; LIMIT is the end of
 * the current run. A thread claims a chunk by raising NEXT from t to t + 1 with a compare-and-exchange while t is
 * before LIMIT. That succeeds only if t is unclaimed, so its run has not ended, and it cannot end before the chunk is
 * done: the description of the run is written before LIMIT is raised, is read after the claim, and does not change
 * until DONE has counted every claimed chunk. A thread that was suspended between its reads and its claim does no harm,
 * however long. (That would take exactly 2^32 claims in between.)
 */

/**
 * More helpers than this gain almost nothing: a sixth of the time of a resolve in dense contact, and half of that of a
 * dress, lies outside the stages that they share (docs/measurements.md, several cores).
 */
export const MAX_HELPERS = 15;

/** The board: words of the process. */
export const BOARD = {
  /** rung for every run; helpers wait on it */
  bell: 0,
  /** largest number of threads that compute at the same time */
  cores: 1,
  /** threads that have work of their own */
  busy: 2,
  /** helpers that can take work */
  ready: 3,
  /** from here on one word per helper: 1 = it is awake. A word each, so that one that dies awake can be taken out */
  awake: 8,
  /** from here on one word per helper: 1 = its thread has ended */
  ended: 8 + MAX_HELPERS,
} as const;

/** Helpers that are awake. */
export function countAwake(board: Int32Array): number {
  let count = 0;
  for (let n = 0; n < MAX_HELPERS; n++) count += Atomics.load(board, BOARD.awake + n);
  return count;
}

/** The thread of a helper has ended, in whatever it did. @param index 0 … MAX_HELPERS − 1 */
export function noteEnd(board: Int32Array, index: number): void {
  Atomics.store(board, BOARD.awake + index, 0);
  Atomics.store(board, BOARD.ended + index, 1);
}

/** Threads that may take part in a run: its owner and helpers. */
export const MAX_SLOTS = MAX_HELPERS + 1;

export const BOARD_WORDS = BOARD.ended + MAX_HELPERS;

/** Distance of words that threads write at the same time: cores take cache lines, two at once, from each other. */
const APART = 32;

/** The control block: int32 words, then float64 arguments. */
export const CONTROL = {
  // Claiming:
  next: 0,
  limit: 1,
  /** first ticket of the run */
  base: 2,
  /** claimed chunks of the run that have ended; the owner of the run waits on it */
  done: APART,
  /** chunks of an ordered run that any thread has ended; threads that wait for their turn wait on it */
  ended: 2 * APART,
  /**
   * threads that sleep, or are about to, until `done` or `ended` changes; if 0, nothing is notified, which takes a lock
   */
  sleepers: 3 * APART,
  // Rarely written:
  /** index of the stage's definition */
  definition: 4 * APART,
  items: 4 * APART + 1,
  chunk: 4 * APART + 2,
  /** messages that a helper must have read before it computes */
  messages: 4 * APART + 3,
  /** 1 = the thread has work of its own */
  busy: 4 * APART + 4,
  /** 1 = the thread starts no more runs */
  gone: 4 * APART + 5,
  /** 1 = chunks of the run wait for their turn, see {@link awaitTurn} */
  ordered: 4 * APART + 6,
  /** 1 = the rest of an ordered run is not computed */
  abandoned: 4 * APART + 7,
  /** one word per slot: 1 + chunk that the helper computes; 0 = none */
  held: 5 * APART,
  /** one word per slot: 1 + chunk that the helper returned unfinished */
  returned: 5 * APART + MAX_SLOTS,
} as const;

const CONTROL_WORDS = CONTROL.returned + MAX_SLOTS;
export const MAX_ARGUMENTS = 256;
const ARGUMENTS_AT = 8 * Math.ceil(CONTROL_WORDS / 2);

/** The control block of one thread that uses helpers. */
export interface Control {
  readonly words: Int32Array;
  /** of the run: four numbers per array (buffer, type, offset in bytes, length), then the numbers */
  readonly arguments: Float64Array;
}

export function createControl(): SharedArrayBuffer {
  return new SharedArrayBuffer(ARGUMENTS_AT + 8 * MAX_ARGUMENTS);
}

export function viewControl(buffer: SharedArrayBuffer): Control {
  return {
    words: new Int32Array(buffer, 0, CONTROL_WORDS),
    arguments: new Float64Array(buffer, ARGUMENTS_AT, MAX_ARGUMENTS),
  };
}

/** @returns the claimed chunk, counted from the beginning of the run; −1 = none is left */
export function claim(words: Int32Array): number {
  for (;;) {
    const ticket = Atomics.load(words, CONTROL.next);
    if (((Atomics.load(words, CONTROL.limit) - ticket) | 0) <= 0) return -1;
    if (Atomics.compareExchange(words, CONTROL.next, ticket, (ticket + 1) | 0) === ticket) {
      return (ticket - Atomics.load(words, CONTROL.base)) | 0;
    }
  }
}

/** Reads of a word before a thread sleeps: some ten microseconds, more than most turns take and less than a wake-up. */
const SPINS = 2000;

/** Polls a word for some ten microseconds. @returns whether it has changed */
export function changesSoon(words: Int32Array, at: number, value: number): boolean {
  for (let looks = 0; looks < SPINS; looks++) if (Atomics.load(words, at) !== value) return true;
  return false;
}

/** Milliseconds between two checks of a thread that sleeps until its turn. */
export const TURN_INTERVAL = 5;

/**
 * Waits until `before` chunks of an ordered run have ended.
 *
 * Chunk n needs the chunks before after[n], with after ascending and after[n] ≤ n. Chunks are claimed in ascending
 * order, so each chunk that a thread waits for has been claimed by a thread that computes it or waits for still earlier
 * ones: the first chunk that has not ended waits for none. The number of ended chunks is enough to know which ones have
 * ended: if all chunks from m on need those before m, none of them has ended while fewer than m have, so the first m
 * that end are the chunks before m.
 *
 * @param onSleep called after each sleep
 * @returns false = the run is abandoned, and the chunk must not be computed
 */
export function awaitTurn(words: Int32Array, before: number, onSleep: () => void = () => {}): boolean {
  for (let looks = 0; ; looks++) {
    const ended = Atomics.load(words, CONTROL.ended);
    if (ended >= before) return true;
    if (Atomics.load(words, CONTROL.abandoned) === 1 || Atomics.load(words, CONTROL.gone) === 1) return false;
    if (looks < SPINS) continue;
    sleep(words, CONTROL.ended, ended, TURN_INTERVAL);
    onSleep();
  }
}

/**
 * Sleeps until a thread has changed a counter, `done` or `ended`, by {@link raise}.
 *
 * No thread misses a change: this thread counts itself before it compares the counter, the thread that changes it
 * checks for sleepers afterwards, and atomic operations have one order. Either the sleeper is seen, or it sees the
 * change.
 *
 * @param value the last one that this thread has seen
 * @param milliseconds at most
 * @returns whether the counter has changed
 */
export function sleep(words: Int32Array, counter: number, value: number, milliseconds: number): boolean {
  Atomics.add(words, CONTROL.sleepers, 1);
  const outcome = Atomics.wait(words, counter, value, milliseconds);
  Atomics.sub(words, CONTROL.sleepers, 1);
  return outcome !== 'timed-out';
}

/** Raises the counter by one, and wakes the threads that sleep until it changes. */
export function raise(words: Int32Array, counter: number): void {
  Atomics.add(words, counter, 1);
  if (Atomics.load(words, CONTROL.sleepers) > 0) Atomics.notify(words, counter);
}

/** Reports that a chunk of an ordered run has ended. */
export function endTurn(words: Int32Array): void {
  raise(words, CONTROL.ended);
}

/** Stands for the buffer of an empty array. */
export const NO_BUFFER = 0;

/** Types of arrays, by their code in the arguments. */
export const VIEW_TYPES = [Uint8Array, Int8Array, Int32Array, Uint32Array, Float32Array, Float64Array] as const;

/** The messages from a thread to a helper, in order. */
export type HelperMessage =
  | { readonly type: 'buffer'; readonly id: number; readonly buffer: SharedArrayBuffer | undefined }
  | { readonly type: 'stage'; readonly index: number; readonly definition: StageDefinition };

export interface StageDefinition {
  readonly module: string;
  readonly name: string;
  readonly arrays: readonly string[];
  readonly numbers: readonly string[];
}
