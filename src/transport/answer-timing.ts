import type { Timings } from '../contract/report.js';
import type { ResolveAnswer } from '../contract/requests.js';
import type { StepAnswer } from '../contract/sessions.js';
import { type Enclosure, encodeReported } from './protobuf/encode.js';

/** Times of a request, as values of performance.now(). */
export interface RequestTimes {
  /** The head of the request had arrived. */
  readonly received: number;
  /** The operation had finished. */
  readonly answered: number;
  /** The answer was encoded, except for its report. */
  readonly encoded: number;
}

/** The answers that carry a report with timings. */
export type ReportedAnswer = ResolveAnswer | StepAnswer;

export const hasReport = (answer: unknown): answer is ReportedAnswer =>
  typeof (answer as Partial<ReportedAnswer> | null | undefined)?.report?.timings === 'object';

/**
 * Adds the times of the transport to the report: encoding and total. Decoding, including the transfer of the body, lies
 * between receipt and queue; the operation has measured it. A replay keeps the times of the first answer, so that both
 * have the same bytes.
 *
 * @returns the timings of the report, microseconds
 */
export function stampTimings(answer: ReportedAnswer, times: RequestTimes): Timings {
  const { timings } = answer.report;
  if ('isReplay' in answer && answer.isReplay) return timings;
  timings.encode += (times.encoded - times.answered) * 1000;
  timings.total = (times.encoded - times.received) * 1000;
  return timings;
}

/**
 * Encodes an answer as protobuf. The report comes last, because it contains the time that the other fields took to
 * encode.
 *
 * @param type response message with a `report`
 * @param received performance.now() when the request had arrived
 * @param enclosure the stream message around the answer
 */
export function encodeStamped(
  type: string,
  message: { readonly report: object },
  answer: ReportedAnswer,
  received: number,
  enclosure?: Enclosure,
): Buffer {
  const answered = performance.now();
  const stamp = () => stampTimings(answer, { received, answered, encoded: performance.now() });
  return encodeReported(type, message, stamp, enclosure);
}
