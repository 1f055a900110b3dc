import type { ResolveAnswer } from '../../contract/requests.js';
import type { StepAnswer } from '../../contract/sessions.js';
import { stampTimings } from '../http/answer-timing.js';
import { encodeReported } from '../protobuf/codec.js';

/**
 * An answer with its report, which carries how long the rest took to encode.
 * @param name message of the contract that has a `report`
 * @param received performance.now() when the request had arrived
 * @param enclosure the message of a stream around it
 */
export function encodeStamped(
  name: string,
  message: { readonly report: object },
  answer: ResolveAnswer | StepAnswer,
  received: number,
  enclosure?: Parameters<typeof encodeReported>[3],
): Buffer {
  const answered = performance.now();
  const stamp = () => stampTimings(answer, { received, answered, encoded: performance.now() });
  return encodeReported(name, message, stamp, enclosure);
}
