import type { Timings } from '../../session/types.js';

/** performance.now() at each turn of a request. */
export interface Turns {
  /** the head of the request had arrived */
  readonly received: number;
  /** the operation was done */
  readonly answered: number;
  /** the answer was ready to be written */
  readonly encoded: number;
}

/**
 * Adds what only the door can measure: encoding, and the total over everything. Decoding, with the time the body took
 * to arrive, is what lies between receipt and queue: the operation has measured it.
 * @param timings of the operation, microseconds
 */
export function withTransportTimings(timings: Timings, turns: Turns): Timings {
  return {
    ...timings,
    encode: timings.encode + (turns.encoded - turns.answered) * 1000,
    total: (turns.encoded - turns.received) * 1000,
  };
}

/** The `server-timing` header: microseconds in, milliseconds out. */
export function serverTiming(timings: Partial<Timings>): string {
  return Object.entries(timings)
    .map(([stage, microseconds]) => `${stage};dur=${(microseconds / 1000).toFixed(3)}`)
    .join(', ');
}
