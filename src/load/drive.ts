import { setTimeout as wait } from 'node:timers/promises';
import type { Sample } from './sample.js';

/** What a polite client waits before it asks again where it was refused; without it a refusal costs more than a step. */
const REFUSAL_PAUSE_MS = 100;
/** Longest pause that a refusal may ask for, ms: a load goes on, whatever a server says. */
const LONGEST_PAUSE_MS = 5000;

/** One request as its loop made it. */
export interface Outcome extends Pick<Sample, 'session' | 'code' | 'timings' | 'status'> {
  /** seconds that the refusal asks to wait */
  readonly retryAfter?: number | undefined;
}

export interface Pace {
  /** requests at a time */
  readonly loops: number;
  /** ms from one request of a loop to its next, whatever the answers take; absent = the next follows the answer */
  readonly period?: number | undefined;
  readonly seconds: number;
  /** ends the run after so many requests of each loop, however long they take; absent = after `seconds` */
  readonly steps?: number | undefined;
  /** aborted: no further request is made */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes requests, each loop one at a time. With a period the loops take their turns evenly, and a request that had to wait for
 * the one before it has waited since it was due: a server that stalls cannot hide behind a client that waits for it.
 *
 * @param call makes request `turn` of loop `loop`; it reports a refusal, and does not throw it
 */
export async function drive(call: (loop: number, turn: number) => Promise<Outcome>, pace: Pace): Promise<Sample[]> {
  const { loops, period, seconds, signal, steps = Number.POSITIVE_INFINITY } = pace;
  const samples: Sample[] = [];
  const start = performance.now();
  const end = steps === Number.POSITIVE_INFINITY ? start + seconds * 1000 : Number.POSITIVE_INFINITY;
  const isOver = () => signal?.aborted === true || performance.now() >= end;
  const pause = (ms: number): Promise<unknown> => wait(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
  const loop = async (index: number): Promise<void> => {
    for (let turn = 0; turn < steps; turn++) {
      const due = period === undefined ? performance.now() : start + period * (turn + index / loops);
      if (due >= end) return;
      // A timer may come a part of a millisecond early.
      while (due > performance.now() && signal?.aborted !== true) await pause(due - performance.now());
      if (isOver()) return;
      const begun = period === undefined ? performance.now() : due;
      const { retryAfter = 0, ...outcome } = await call(index, turn);
      const now = performance.now();
      samples.push({ ...outcome, ms: now - begun, at: begun - start });
      if (outcome.code !== 'OK') await pause(Math.min(LONGEST_PAUSE_MS, Math.max(REFUSAL_PAUSE_MS, 1000 * retryAfter)));
    }
  };
  await Promise.all(Array.from({ length: loops }, (_, index) => loop(index)));
  return samples;
}
