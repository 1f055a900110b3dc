import type { Timings } from '../../contract/report.js';
import type { ResolveAnswer } from '../../contract/requests.js';
import type { StepAnswer } from '../../contract/sessions.js';

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
 * Writes into the report what only the door can measure: encoding, and the total over everything. Decoding, with the time
 * the body took to arrive, is what lies between receipt and queue: the operation has measured it. The answer of a frame
 * that was sent again keeps the times of its first sending, so that both are the same bytes.
 * @returns the timings of the report, microseconds
 */
export function stampTimings(answer: ResolveAnswer | StepAnswer, turns: Turns): Timings {
  const { timings } = answer.report;
  if ('isReplay' in answer && answer.isReplay) return timings;
  timings.encode += (turns.encoded - turns.answered) * 1000;
  timings.total = (turns.encoded - turns.received) * 1000;
  return timings;
}

/** The `server-timing` header: microseconds in, milliseconds out. */
export function serverTiming(timings: Partial<Timings>): string {
  return Object.entries(timings)
    .map(([stage, microseconds]) => `${stage};dur=${(microseconds / 1000).toFixed(3)}`)
    .join(', ');
}
