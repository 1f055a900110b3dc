import type { ResolveAnswer, StepAnswer } from '../../session/types.js';
import { stampTimings } from '../http/answer-timing.js';
import { encodeMessage } from '../protobuf/codec.js';

/**
 * An answer with its report in two pieces, which end to end are the message: the report comes last because it carries how
 * long the rest took to encode.
 * @param name message of the contract that has a `report`
 * @param received performance.now() when the request had arrived
 */
export function encodeReported(
  name: string,
  message: { readonly report: object },
  answer: ResolveAnswer | StepAnswer,
  received: number,
): readonly [Uint8Array, Uint8Array] {
  const answered = performance.now();
  const { report, ...bulk } = message;
  const body = encodeMessage(name, bulk);
  stampTimings(answer, { received, answered, encoded: performance.now() });
  return [body, encodeMessage(name, { report })];
}
