import protobuf from 'protobufjs/minimal.js';
import type { StepAnswer } from '../../session/types.js';
import type { Progress } from '../../solver/types.js';
import { fromError, fromStepAnswer } from '../answers.js';
import { encodeMessage } from '../protobuf/codec.js';
import { encodeReported } from './reported.js';

/** The messages that a `StepStream` sends back. @param sequence which request of the stream, from 0 */

export function encodeAnswer(sequence: number, answer: StepAnswer, received: number): Uint8Array {
  const pieces = encodeReported('StepResponse', fromStepAnswer(answer), answer, received);
  // Positions are large: the frame around the pieces is written by hand, so that they are copied only once more.
  const head = protobuf.Writer.create()
    .uint32(8) // sequence, a varint
    .uint64(sequence)
    .uint32((2 << 3) | 2) // response, length-delimited
    .uint32(pieces[0].byteLength + pieces[1].byteLength)
    .finish();
  return Buffer.concat([head, ...pieces]);
}

export function encodeRefusal(sequence: number, thrown: unknown, requestId: string): Uint8Array {
  return encodeMessage('StepStreamResponse', { sequence, error: fromError(thrown, requestId) });
}

export function encodeProgress(sequence: number, progress: Progress): Uint8Array {
  const { steps, residual, unfinishedVertices } = progress;
  return encodeMessage('StepStreamResponse', { sequence, progress: { steps, residual, unfinishedVertices } });
}
