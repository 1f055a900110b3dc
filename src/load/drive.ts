import { setTimeout as wait } from 'node:timers/promises';
import type { Sample } from './sample.js';

/** Pause of a client after a refusal, ms; without it refusals would cost more than steps. */
const REFUSAL_PAUSE_MS = 100;
/** Longest pause that a refusal may request, ms, so that the load continues whatever a server says. */
const LONGEST_PAUSE_MS = 5000;

/** One request of a loop. */
export interface Outcome extends Pick<Sample, 'session' | 'code' | 'timings' | 'status'> {
  /** seconds to wait according to the refusal */
  readonly retryAfter?: number | undefined;
}

export interface Pace {
  /** requests at a time */
  readonly loops: number;
  /** ms from one request of a loop to its next, however long answers take; absent = the next follows the answer */
  readonly period?: number | undefined;
  readonly seconds: number;
  /** ends the run after this many requests of each loop, however long they take; absent = after `seconds` */
  readonly steps?: number | undefined;
  /** if aborted, no further request is made */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes requests, each loop one at a time. With a period the loops are spread evenly over it, and the time of a request
 * that had to wait for the one before it counts from when it was due: otherwise the client's waiting would hide stalls
 * of the server.
 *
 * @param call makes request `turn` of loop `loop`; it returns a refusal and does not throw it
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
      // A timer may fire a fraction of a millisecond early.
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
