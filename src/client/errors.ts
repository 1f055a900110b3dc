import type { ElementPair, ElementRef } from '../contract/elements.js';
import type { Answer } from './connection.js';
import { parseAnswer } from './wire.js';

/** Codes that no server sends: they say what this side saw. */
export type LocalCode =
  /** no answer: nobody listens, the connection broke, or a proxy found no server behind it */
  | 'UNREACHABLE'
  /** no connection: the certificate of one side is not trusted by the other, or the server speaks no TLS */
  | 'TLS_REFUSED'
  /** an answer, but not of this service */
  | 'UNEXPECTED_ANSWER'
  /** no answer within the client's own time limit */
  | 'TIMEOUT'
  /** the caller's signal ended the call, or the session is closed */
  | 'CANCELLED';

export interface ServiceErrorFields {
  /** of the service's table of errors, or a {@link LocalCode}; a newer server may send others */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly retryable?: boolean;
  readonly retryAfterSeconds?: number;
  readonly requestId?: string;
  readonly element?: ElementRef;
  readonly pairs?: readonly ElementPair[];
  readonly pairCount?: number;
  /** whether the server may have done what was asked all the same */
  readonly isUncertain?: boolean;
  readonly cause?: unknown;
}

/**
 * Why a call did not succeed, in the server's words. A class of its own beside the service's error: what may be tried
 * again is what the server says, which may be newer than the table this client was built with.
 */
export class ServiceError extends Error {
  readonly code: string;
  /** what to do about it */
  readonly hint: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  /** names the call in the server's log */
  readonly requestId: string;
  readonly element: ElementRef | undefined;
  /** a few of the pairs at fault; pairCount is the complete number */
  readonly pairs: readonly ElementPair[];
  readonly pairCount: number;
  readonly isUncertain: boolean;

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
    this.isUncertain = fields.isUncertain ?? false;
  }
}

/** A refusal as it came, be it a problem document or what a proxy made up. */
export async function refusalOf(response: Answer): Promise<ServiceError> {
  const text = await response.text();
  const retryAfterSeconds = readRetryAfter(response.headers.get('retry-after'));
  const fields = asObject(text);
  if (typeof fields?.code === 'string') {
    return new ServiceError({
      ...(fields as unknown as ServiceErrorFields),
      message: String(fields.message ?? fields.detail ?? ''),
      retryAfterSeconds: retryAfterSeconds ?? readDuration(fields.retryAfter),
    });
  }
  // 502, 503 and 504 without a problem document come from a proxy whose server is away.
  const isAway = response.status >= 502 && response.status <= 504;
  return new ServiceError({
    code: isAway ? 'UNREACHABLE' : 'UNEXPECTED_ANSWER',
    message: `${response.url} answered ${response.status}: ${text.slice(0, 200)}`,
    hint: 'Is this the address of an Interstice server?',
    retryable: isAway,
    isUncertain: true,
    retryAfterSeconds,
  });
}

function asObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseAnswer(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds, or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** proto3 JSON: "1.5s" */
function readDuration(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? Number.parseFloat(value) : Number.NaN;
  return Number.isFinite(seconds) ? seconds : undefined;
}
