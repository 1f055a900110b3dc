import type { Progress } from '../../contract/report.js';
import type { StepAnswer } from '../../contract/sessions.js';
import { fromError, fromStepAnswer } from '../answers.js';
import { messageShape } from '../json/schema.js';
import { encodeMessage } from '../protobuf/codec.js';
import { encodeStamped } from './reported.js';

/** The messages that a `StepStream` sends back. @param sequence which request of the stream, from 0 */

const RESPONSE_FIELD = messageShape('StepStreamResponse').byName.get('response')!.number;

export function encodeAnswer(sequence: number, answer: StepAnswer, received: number): Uint8Array {
  const enclosure = { before: encodeMessage('StepStreamResponse', { sequence }), fieldNumber: RESPONSE_FIELD };
  return encodeStamped('StepResponse', fromStepAnswer(answer), answer, received, enclosure);
}

export function encodeRefusal(sequence: number, thrown: unknown, requestId: string): Uint8Array {
  return encodeMessage('StepStreamResponse', { sequence, error: fromError(thrown, requestId) });
}

export function encodeProgress(sequence: number, progress: Progress): Uint8Array {
  const { steps, residual, unfinishedVertices } = progress;
  return encodeMessage('StepStreamResponse', { sequence, progress: { steps, residual, unfinishedVertices } });
}
