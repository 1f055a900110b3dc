import { type Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { CallContext, Caller } from '../../contract/call-context.js';
import { ERRORS, type ErrorCode, IntersticeError } from '../../contract/errors.js';
import { logRequest, type RequestLine } from '../../observe/log.js';
import { requestIdOf, type TransportOptions } from '../common.js';
import type { MessageMeter } from './message-meter.js';
import { deadlineExceeded, statusOf } from './status.js';

/** State of one call of the service, from its metadata to its last byte. Interceptor and handler share it. */
export class CallState {
  /** performance.now() when the metadata had arrived. */
  readonly receivedAt = performance.now();
  readonly requestId: string;
  caller: Caller | undefined;
  /** The memory that the messages of this call hold. */
  meter: MessageMeter | undefined;
  /** Size of all received messages, uncompressed. */
  bytesIn = 0;
  bytesOut = 0;
  /** Streams only: messages without an answer; undefined for a call that has one answer. */
  unanswered: number | undefined;
  /** Streams only. */
  readonly readGate = new ReadGate();
  /** How the call ended; undefined until its status is sent. */
  outcome: 'OK' | ErrorCode | undefined;
  readonly #controller = new AbortController();

  /** Reads the metadata of the call. */
  readonly header: (name: string) => string | undefined;

  constructor(
    metadata: Metadata,
    /** As in `/package.Service/Method`. */
    readonly path: string,
  ) {
    this.header = (name) => headerOf(metadata, name);
    this.requestId = requestIdOf(headerOf(metadata, 'x-request-id'));
  }

  /** Aborted when the caller disconnects, or when its deadline passes before there is an answer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get context(): CallContext {
    const { caller, requestId, signal, receivedAt, header } = this;
    // The library reads every message into new memory and keeps no reference to it.
    return { caller, requestId, signal, receivedAt, header, isHandedOver: true };
  }

  /** The status that ends this call with an error. */
  refuse(thrown: unknown): StatusObject {
    const error = IntersticeError.from(thrown);
    this.outcome = error.code;
    return statusOf(error, this.requestId);
  }

  /** Stops the work that is still in progress for this call. */
  abort(reason: IntersticeError): void {
    this.#controller.abort(reason);
  }

  /** The call has ended. @param deadline ms since 1970 */
  end(deadline: Date | number): void {
    if (this.outcome !== undefined) {
      // A deadline also ends the call with a status, while the work is still in progress.
      if (this.outcome !== 'OK') this.abort(new IntersticeError('CANCELLED', 'The call was refused.'));
      return;
    }
    const isLate = Number(deadline) <= Date.now();
    const error = isLate ? deadlineExceeded() : new IntersticeError('CANCELLED', 'The caller disconnected.');
    // A client leaves a stream by cancelling it. It loses nothing if all its messages are answered.
    const isAnswered = this.unanswered === 0 && !this.meter?.isWithinMessage;
    this.outcome = !isLate && isAnswered ? 'OK' : error.code;
    this.abort(error);
  }
}

const states = new WeakMap<Metadata, CallState>();

/** Hands the state from the interceptor to the handler: the library passes the same metadata to both. */
export function rememberCallState(metadata: Metadata, state: CallState): void {
  states.set(metadata, state);
}

export function callStateOf(metadata: Metadata): CallState {
  const state = states.get(metadata);
  if (!state) throw new Error('The call did not pass through the interceptor.');
  return state;
}

export function headerOf(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === 'string' ? value : undefined;
}

export const isOk = (code: number | null | undefined): boolean => code === status.OK;

/** Messages of a stream that may wait for their answers. Beyond it the server stops reading, as the contract says. */
export const MAX_UNANSWERED = 4;

/**
 * Allows reads while fewer than {@link MAX_UNANSWERED} messages wait for an answer. A read counts from the time it is
 * requested, not when its message arrives, because a requested read cannot be cancelled.
 */
class ReadGate {
  #taken = 0;
  #waiting: (() => void)[] = [];

  /** Reads now, or as soon as there is room. */
  pass(read: () => void): void {
    if (this.#taken >= MAX_UNANSWERED) {
      this.#waiting.push(read);
      return;
    }
    this.#taken++;
    read();
  }

  /** A message was answered. */
  release(): void {
    this.#taken--;
    const next = this.#waiting.shift();
    if (next) this.pass(next);
  }
}

/** Logs one line per call in the format of the HTTP server; the status is the one that HTTP would send. */
export function logCall({ log, onAnswered }: Pick<TransportOptions, 'log' | 'onAnswered'>, state: CallState): void {
  const { requestId, path, receivedAt, bytesIn, bytesOut, outcome } = state;
  const code = outcome === 'OK' ? undefined : outcome;
  const line: RequestLine = {
    requestId,
    method: 'gRPC',
    path,
    status: code === undefined ? 200 : ERRORS[code].http,
    milliseconds: performance.now() - receivedAt,
    bytesIn,
    bytesOut,
    code,
    tenant: state.caller?.tenant,
  };
  logRequest(log, line);
  onAnswered?.(line);
}
