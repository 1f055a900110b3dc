import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js';
import { type ErrorCode, IntersticeError } from '../../contract/errors.js';
import type { Progress } from '../../contract/report.js';
import type { StepAnswer } from '../../contract/sessions.js';
import { logFault } from '../../observe/log.js';
import { answerBytes } from '../answer-bytes.js';
import { encodeStamped } from '../answer-timing.js';
import { ANSWER_STALL_MS } from '../intake/arrival.js';
import { fromError, fromStepAnswer } from '../messages/answers.js';
import { text } from '../messages/fields.js';
import { toStepRequest, wantsProgress } from '../messages/requests.js';
import { messageShape } from '../messages/schema.js';
import { decodeMessage } from '../protobuf/decode.js';
import { encodeMessage } from '../protobuf/encode.js';
import { drainingError } from '../service-state.js';
import { type CallState, callStateOf } from './call-state.js';
import type { GrpcOptions } from './options.js';
import { cutOff, identify } from './status.js';
import { StreamWriter } from './stream-writer.js';

/** Errors that end the stream: the client has to connect to another server, or to create its session again. */
const FINAL_ERRORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['DRAINING', 'SESSION_NOT_FOUND']);

/** Steps of one session. Each starts on arrival, and answers keep the order; a refused step does not end the stream. */
export function stepStream(options: GrpcOptions): handleBidiStreamingCall<Uint8Array, Uint8Array> {
  return (call) => new StepStream(call, callStateOf(call.metadata), options).open();
}

/** A `sequence` is the index of a request in the stream, from 0. */
class StepStream {
  readonly #writer: StreamWriter;
  #sessionId: string | undefined;
  /** Sequence of the next request to arrive. */
  #nextRequest = 0;
  /** Sequence of the next request to be answered. */
  #nextAnswer = 0;
  #isEnded = false;
  /** Settles with the last answer so far. */
  #answered: Promise<void> = Promise.resolve();
  #stopWatching: () => void = () => {};

  constructor(
    private readonly call: ServerDuplexStream<Uint8Array, Uint8Array>,
    private readonly callState: CallState,
    private readonly options: GrpcOptions,
  ) {
    this.#writer = new StreamWriter(call, callState, options.answerStallMs ?? ANSWER_STALL_MS);
  }

  open(): void {
    const { call, callState, options } = this;
    callState.unanswered = 0;
    call.sendMetadata(identify(callState.requestId));
    call.on('data', (bytes: Uint8Array) => this.#receive(bytes));
    call.on('end', () => void this.#answered.then(() => this.#endOfRequests()));
    call.once('close', () => this.#stopWatching());
    // A stream whose client is idle would block the drain indefinitely.
    this.#stopWatching = options.state.watch(() => void this.#endIfDraining());
  }

  #receive(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    this.#count(1);
    const sequence = this.#nextRequest++;
    const received = performance.now();
    // Starts at once: the session computes one step at a time, and has the next one ready.
    const step = this.#start(bytes, sequence, received);
    step.catch(() => {});
    this.#answered = this.#answered
      .then(() => this.#answer(step, sequence, received))
      .then(
        () => this.#count(-1),
        (fault: unknown) => {
          this.#count(-1);
          this.#fail(fault);
        },
      );
  }

  /** Counts a message that begins (1) or ceases (−1) to wait for its answer. */
  #count(change: 1 | -1): void {
    const { callState } = this;
    callState.unanswered = (callState.unanswered ?? 0) + change;
    if (change === 1) this.options.state.enter();
    else this.options.state.leave();
  }

  async #start(bytes: Uint8Array, sequence: number, receivedAt: number): Promise<StepAnswer> {
    const { operations, state } = this.options;
    state.refuseIfDraining();
    const refusal = this.callState.meter?.refusalOf(sequence);
    if (refusal) throw refusal;
    const message = decodeMessage('StepRequest', bytes, true);
    const earlierId = this.#sessionId;
    this.#sessionId ??= text(message.sessionId);
    const request = toStepRequest(message, { sessionId: earlierId, takesProgress: true });
    return operations.step(request, {
      ...this.callState.context,
      requestId: this.#requestId(sequence),
      receivedAt,
      ...(wantsProgress(message) ? { onProgress: (progress) => this.#sendProgress(sequence, progress) } : {}),
    });
  }

  #requestId(sequence: number): string {
    return `${this.callState.requestId}/${sequence}`;
  }

  /** Sends progress in the order of the answers, or drops it if the stream is busy, as the next one supersedes it. */
  #sendProgress(sequence: number, progress: Progress): void {
    if (sequence === this.#nextAnswer && !this.#isEnded) this.#writer.writeIfIdle(encodeProgress(sequence, progress));
  }

  async #answer(step: Promise<StepAnswer>, sequence: number, received: number): Promise<void> {
    if (this.#isEnded) return;
    let isFinal = false;
    let bytes: Uint8Array;
    try {
      const answer = await step;
      const { meter, signal } = this.callState;
      await meter?.oldestAccount?.growToAnswer(answerBytes(answer, 'binary'), signal);
      bytes = encodeAnswer(sequence, answer, received);
    } catch (thrown) {
      const requestId = this.#requestId(sequence);
      logFault(this.options.log, requestId, thrown);
      isFinal = FINAL_ERRORS.has(IntersticeError.from(thrown).code);
      bytes = encodeError(sequence, thrown, requestId);
    }
    this.#nextAnswer = sequence + 1;
    await this.#writer.write(bytes);
    this.callState.meter?.releaseOldest();
    this.callState.readGate.release();
    if (isFinal) this.#end();
    else await this.#endIfDraining();
  }

  /** Ends the stream with DRAINING, under the sequence of the next request, when no request waits for an answer. */
  async #endIfDraining(): Promise<void> {
    const { state } = this.options;
    if (state.phase !== 'draining' || this.#isEnded || this.#nextAnswer < this.#nextRequest) return;
    this.#isEnded = true;
    const sequence = this.#nextRequest;
    await this.#writer.write(encodeError(sequence, drainingError(state.reason), this.#requestId(sequence)));
    this.#close();
  }

  /** The client has ended its half of the stream, and all its messages are answered. */
  #endOfRequests(): void {
    if (this.callState.meter?.isWithinMessage && !this.#isEnded) this.#endWith(cutOff());
    else this.#end();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#close();
  }

  #close(): void {
    this.#stopWatching();
    this.call.end();
    // Steps behind a final error are not answered, so they must not change the session either.
    this.callState.abort(new IntersticeError('CANCELLED', 'The stream has ended.'));
  }

  /** Reached only through a programming error: ends the stream instead of leaving it open. */
  #fail(fault: unknown): void {
    logFault(this.options.log, this.callState.requestId, fault);
    this.#endWith(fault);
  }

  /** Ends the stream with a status other than OK. */
  #endWith(reason: unknown): void {
    this.#isEnded = true;
    this.#stopWatching();
    this.call.emit('error', this.callState.refuse(reason));
    this.callState.abort(new IntersticeError('CANCELLED', 'The stream has failed.'));
  }
}

const RESPONSE_FIELD = messageShape('StepStreamResponse').byName.get('response')!.number;

function encodeAnswer(sequence: number, answer: StepAnswer, received: number): Uint8Array {
  const enclosure = { before: encodeMessage('StepStreamResponse', { sequence }), fieldNumber: RESPONSE_FIELD };
  return encodeStamped('StepResponse', fromStepAnswer(answer), answer, received, enclosure);
}

function encodeError(sequence: number, thrown: unknown, requestId: string): Uint8Array {
  return encodeMessage('StepStreamResponse', { sequence, error: fromError(thrown, requestId) });
}

function encodeProgress(sequence: number, progress: Progress): Uint8Array {
  const { steps, residual, unfinishedVertices } = progress;
  return encodeMessage('StepStreamResponse', { sequence, progress: { steps, residual, unfinishedVertices } });
}
