import { type Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { CallContext, Caller } from '../../contract/call-context.js';
import { type ErrorCode, IntersticeError } from '../../contract/errors.js';
import { requestIdOf } from '../http/identity.js';
import { deadlineExceeded } from './library-status.js';
import { ReadGate } from './read-gate.js';
import { statusOf } from './refusal.js';

/** One call of the service, from its headers to its last byte: what door and handler know of it together. */
export class Visit {
  /** performance.now() when the headers had arrived */
  readonly receivedAt = performance.now();
  readonly requestId: string;
  caller: Caller | undefined;
  /** of all messages, uncompressed */
  bytesIn = 0;
  bytesOut = 0;
  /** streams only */
  readonly gate = new ReadGate();
  /** How it ended; undefined until a status was handed over. */
  outcome: 'OK' | ErrorCode | undefined;
  readonly #controller = new AbortController();

  /** reads the metadata that came with the call */
  readonly header: (name: string) => string | undefined;

  constructor(
    metadata: Metadata,
    /** as in `/package.Service/Method` */
    readonly path: string,
  ) {
    this.header = (name) => headerOf(metadata, name);
    this.requestId = requestIdOf({ 'x-request-id': headerOf(metadata, 'x-request-id') });
  }

  /** aborted when the caller goes away or its deadline passes before there is an answer */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get context(): CallContext {
    const { caller, requestId, signal, receivedAt, header } = this;
    // The library reads every message into memory of its own, and forgets it when it has handed it over.
    return { caller, requestId, signal, receivedAt, header, isHandedOver: true };
  }

  /** The status that ends this call. */
  refuse(thrown: unknown): StatusObject {
    const error = IntersticeError.from(thrown);
    this.outcome = error.code;
    return statusOf(error, this.requestId);
  }

  /** What is still at work for this call is to stop. */
  abandon(reason: IntersticeError): void {
    this.#controller.abort(reason);
  }

  /** Nothing more will be sent. @param deadline ms since 1970 */
  end(deadline: Date | number): void {
    if (this.outcome !== undefined) {
      // The deadline, too, ends a call with a status: only an answer leaves nothing behind that should stop.
      if (this.outcome !== 'OK') this.abandon(new IntersticeError('CANCELLED', 'The call was refused.'));
      return;
    }
    const error =
      Number(deadline) <= Date.now() ? deadlineExceeded() : new IntersticeError('CANCELLED', 'The caller went away.');
    this.outcome = error.code;
    this.abandon(error);
  }
}

const visits = new WeakMap<Metadata, Visit>();

/** The library hands the same metadata to interceptor and handler: the thread between the two. */
export function rememberVisit(metadata: Metadata, visit: Visit): void {
  visits.set(metadata, visit);
}

export function visitOf(metadata: Metadata): Visit {
  const visit = visits.get(metadata);
  if (!visit) throw new Error('this call did not come through the door');
  return visit;
}

export function headerOf(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === 'string' ? value : undefined;
}

export const isOk = (code: number | null | undefined): boolean => code === status.OK;
