import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js';
import { type ErrorCode, IntersticeError } from '../../contract/errors.js';
import type { StepAnswer } from '../../contract/sessions.js';
import { logFault } from '../../observe/log.js';
import { text } from '../fields.js';
import { toStepRequest, wantsProgress } from '../messages.js';
import { decodeMessage } from '../protobuf/codec.js';
import type { GrpcOptions } from './options.js';
import { identify } from './refusal.js';
import { encodeAnswer, encodeProgress, encodeRefusal } from './stream-messages.js';
import { StreamWriter } from './stream-writer.js';
import { type Visit, visitOf } from './visit.js';

/** After these the stream has no more to offer: the client goes to another server, or makes its session anew. */
const LAST_WORDS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['DRAINING', 'SESSION_NOT_FOUND']);

/** Steps of one session: each is begun as it comes and answered in its turn; a refused one does not end the stream. */
export function stepStream(options: GrpcOptions): handleBidiStreamingCall<Uint8Array, Uint8Array> {
  return (call) => new StepStream(call, visitOf(call.metadata), options).open();
}

class StepStream {
  readonly #writer: StreamWriter;
  #sessionId: string | undefined;
  /** sequence of the request that comes next, and of the one that is answered next */
  #coming = 0;
  #answering = 0;
  #isEnded = false;
  /** settles with the last answer so far */
  #answered: Promise<void> = Promise.resolve();
  #stopWatching: () => void = () => {};

  constructor(
    private readonly call: ServerDuplexStream<Uint8Array, Uint8Array>,
    private readonly visit: Visit,
    private readonly options: GrpcOptions,
  ) {
    this.#writer = new StreamWriter(call, visit);
  }

  open(): void {
    const { call, visit, options } = this;
    call.sendMetadata(identify(visit.requestId));
    call.on('data', (bytes: Uint8Array) => this.#take(bytes));
    call.on('end', () => void this.#answered.then(() => this.#end()));
    call.once('close', () => this.#stopWatching());
    // A stream that waits for its client would hold the drain for ever.
    this.#stopWatching = options.state.watch(() => void this.#leaveIfDrained());
  }

  #take(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    const { state } = this.options;
    const sequence = this.#coming++;
    const received = performance.now();
    state.enter();
    // Begun at once, in the order of arrival: the session does one step at a time, and has the next one at hand.
    const step = this.#begin(bytes, sequence, received);
    step.catch(() => {});
    this.#answered = this.#answered
      .then(() => this.#answer(step, sequence, received))
      .then(
        () => state.leave(),
        (fault: unknown) => {
          state.leave();
          this.#fail(fault);
        },
      );
  }

  async #begin(bytes: Uint8Array, sequence: number, receivedAt: number): Promise<StepAnswer> {
    const { operations, state } = this.options;
    if (state.phase === 'draining') throw new IntersticeError('DRAINING', state.reason, { retryAfterSeconds: 1 });
    const message = decodeMessage('StepRequest', bytes, true);
    const named = this.#sessionId;
    this.#sessionId ??= text(message.sessionId);
    const request = toStepRequest(message, { sessionId: named, takesProgress: true });
    return operations.step(request, {
      ...this.visit.context,
      requestId: this.#requestId(sequence),
      receivedAt,
      ...(wantsProgress(message) ? { onProgress: (progress) => this.#tell(sequence, progress) } : {}),
    });
  }

  #requestId(sequence: number): string {
    return `${this.visit.requestId}/${sequence}`;
  }

  /** Answers come in order, so does progress; what finds the line busy gives way to the next, which knows more. */
  #tell(sequence: number, progress: Parameters<typeof encodeProgress>[1]): void {
    if (sequence === this.#answering && !this.#isEnded) this.#writer.offer(encodeProgress(sequence, progress));
  }

  async #answer(step: Promise<StepAnswer>, sequence: number, received: number): Promise<void> {
    if (this.#isEnded) return;
    let last = false;
    let bytes: Uint8Array;
    try {
      bytes = encodeAnswer(sequence, await step, received);
    } catch (thrown) {
      const requestId = this.#requestId(sequence);
      logFault(this.options.log, requestId, thrown);
      last = LAST_WORDS.has(IntersticeError.from(thrown).code);
      bytes = encodeRefusal(sequence, thrown, requestId);
    }
    this.#answering = sequence + 1;
    await this.#writer.write(bytes);
    this.visit.gate.release();
    if (last) this.#end();
    else await this.#leaveIfDrained();
  }

  /** Says goodbye in the name of the request that would come next, once nothing waits for an answer. */
  async #leaveIfDrained(): Promise<void> {
    const { state } = this.options;
    if (state.phase !== 'draining' || this.#isEnded || this.#answering < this.#coming) return;
    this.#isEnded = true;
    const farewell = new IntersticeError('DRAINING', state.reason, { retryAfterSeconds: 1 });
    await this.#writer.write(encodeRefusal(this.#coming, farewell, this.#requestId(this.#coming)));
    this.#close();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#close();
  }

  #close(): void {
    this.#stopWatching();
    this.call.end();
    // Steps behind the last words will not be answered: they are not to change the session behind the caller's back.
    this.visit.abandon(new IntersticeError('CANCELLED', 'The stream has ended.'));
  }

  /** Only a mistake of this file can lead here: the stream must not hang for it. */
  #fail(fault: unknown): void {
    logFault(this.options.log, this.visit.requestId, fault);
    this.#isEnded = true;
    this.#stopWatching();
    this.call.emit('error', this.visit.refuse(fault));
    this.visit.abandon(new IntersticeError('CANCELLED', 'The stream has failed.'));
  }
}
