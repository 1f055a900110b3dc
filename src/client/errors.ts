import type { ElementPair, ElementRef } from '../contract/elements.js';

/** Codes that no server sends: the client detects these failures. */
export type LocalCode =
  /** no answer: the port is closed, the connection broke, or a proxy could not reach the server */
  | 'UNREACHABLE'
  /** no connection: one side does not trust the certificate of the other, or the server does not use TLS */
  | 'TLS_REFUSED'
  /** an answer, but not of this service */
  | 'UNEXPECTED_ANSWER'
  /** no answer within the client's own time limit */
  | 'TIMEOUT'
  /** the caller's signal ended the call, or the session is closed */
  | 'CANCELLED';

export interface ServiceErrorFields {
  /** from the service's table of errors, or a {@link LocalCode}; a newer server may send others */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly retryable?: boolean;
  readonly retryAfterSeconds?: number;
  readonly requestId?: string;
  readonly element?: ElementRef;
  readonly pairs?: readonly ElementPair[];
  readonly pairCount?: number;
  readonly frame?: number;
  /** whether the server may have executed the request nevertheless */
  readonly isUncertain?: boolean;
  readonly cause?: unknown;
}

/**
 * Why a call failed, in the server's words. This is not the service's own error class: the server, which may be newer
 * than the table of errors in this client, decides whether a call is retryable.
 */
export class ServiceError extends Error {
  readonly code: string;
  /** a remedy */
  readonly hint: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  /** identifies the call in the server's log */
  readonly requestId: string;
  readonly element: ElementRef | undefined;
  /** some of the pairs at fault; pairCount is the complete number */
  readonly pairs: readonly ElementPair[];
  readonly pairCount: number;
  /** last accepted frame of the session, with FRAME_LOST, FRAME_CONFLICT and FRAME_OUT_OF_ORDER */
  readonly frame: number | undefined;
  /** whether the server may have executed the request nevertheless, at one of its attempts */
  isUncertain: boolean;

  constructor(fields: ServiceErrorFields) {
    super(`${fields.code}: ${fields.message}`, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = 'ServiceError';
    this.code = fields.code;
    this.hint = fields.hint ?? '';
    this.retryable = fields.retryable ?? false;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.requestId = fields.requestId ?? '';
    this.element = fields.element;
    this.pairs = fields.pairs ?? [];
    this.pairCount = fields.pairCount ?? this.pairs.length;
    this.frame = fields.frame;
    this.isUncertain = fields.isUncertain ?? false;
  }
}

/** @param isUncertain whether the request may have reached the server */
export const cancelled = (cause: unknown, isUncertain = false): ServiceError =>
  new ServiceError({ code: 'CANCELLED', message: 'The caller cancelled the call.', isUncertain, cause });
