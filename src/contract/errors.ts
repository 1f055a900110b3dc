import type { ElementPair, ElementRef } from './elements.js';

/**
 * Every error that the service can answer with. Both transports, the command line, the clients' documentation and the
 * OpenAPI document read this table; no other place assigns an HTTP or gRPC status to an error.
 */

/** gRPC status codes by name (https://grpc.io/docs/guides/status-codes/). */
export const GRPC_STATUS = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

export interface ErrorKind {
  readonly http: number;
  readonly grpc: keyof typeof GRPC_STATUS;
  /** Whether the same request may succeed later without changes. */
  readonly retryable: boolean;
  /** What the caller can do, unless the place that throws the error gives a more precise hint. */
  readonly hint: string;
}

const kind = (http: number, grpc: ErrorKind['grpc'], hint: string, retryable = false): ErrorKind => ({
  http,
  grpc,
  retryable,
  hint,
});

export const ERRORS = {
  MALFORMED_BODY: kind(400, 'INVALID_ARGUMENT', 'Check the request against the reference at /docs.'),
  UNKNOWN_FIELD: kind(400, 'INVALID_ARGUMENT', 'Remove the field, or correct its spelling; names are case-sensitive.'),
  INVALID_PARAMETER: kind(400, 'INVALID_ARGUMENT', 'Use a value within the stated range, or leave the field unset.'),
  INVALID_MESH: kind(400, 'INVALID_ARGUMENT', 'Repair the named element.'),
  INDEX_OUT_OF_RANGE: kind(400, 'INVALID_ARGUMENT', 'Vertex ids start at 0 and must be less than the vertex count.'),
  SIZE_MISMATCH: kind(400, 'INVALID_ARGUMENT', 'Send arrays of the stated length.'),
  NOT_FINITE: kind(400, 'INVALID_ARGUMENT', 'Replace NaN and infinite values.'),
  COORDINATE_RANGE: kind(400, 'INVALID_ARGUMENT', 'Reduce the coordinates relative to the extent of the mesh.'),
  INTERSECTING_START: kind(
    422,
    'FAILED_PRECONDITION',
    'The start must be free of intersections. Separate the listed pairs, or have the start untangled (Untangle, `interstice untangle`), and send the request again.',
  ),
  TOLERANCE_TOO_SMALL: kind(
    422,
    'FAILED_PRECONDITION',
    'Use at least the stated distance, send float64, or move the mesh closer to the origin.',
  ),
  FRAME_OUT_OF_ORDER: kind(409, 'FAILED_PRECONDITION', 'Send a frame that is greater than the last accepted one.'),
  FRAME_CONFLICT: kind(
    409,
    'FAILED_PRECONDITION',
    'This frame was already answered for a different payload. Use a new frame.',
  ),
  SESSION_NOT_FOUND: kind(404, 'NOT_FOUND', 'Create the session again from your mesh and your last answer.'),
  JOB_NOT_FOUND: kind(
    404,
    'NOT_FOUND',
    'Submit the job again. A job disappears when its keeping time ends, when it is deleted, or when its process ends.',
  ),
  JOB_NOT_ENDED: kind(409, 'FAILED_PRECONDITION', 'Ask again, with a time to wait for the end of the job.', true),
  NOT_FOUND: kind(404, 'NOT_FOUND', 'See /docs for the paths of this service.'),
  TOO_LARGE: kind(413, 'RESOURCE_EXHAUSTED', 'Stay below the stated limit, or raise it in the configuration.'),
  QUEUE_FULL: kind(429, 'RESOURCE_EXHAUSTED', 'Retry after the stated time.', true),
  QUOTA_EXCEEDED: kind(429, 'RESOURCE_EXHAUSTED', 'Delete sessions that you no longer need, or retry later.', true),
  UNAUTHENTICATED: kind(401, 'UNAUTHENTICATED', 'Send a valid API key.'),
  PERMISSION_DENIED: kind(
    403,
    'PERMISSION_DENIED',
    'The message says which permission is missing: of the key, of the host name or of the web page.',
  ),
  METHOD_NOT_ALLOWED: kind(405, 'INVALID_ARGUMENT', 'See the Allow header for the methods of this path.'),
  NOT_ACCEPTABLE: kind(406, 'INVALID_ARGUMENT', 'Accept one of the listed media types.'),
  UNSUPPORTED_MEDIA_TYPE: kind(
    415,
    'INVALID_ARGUMENT',
    'Send one of the listed media types, without content encoding.',
  ),
  DEADLINE_EXCEEDED: kind(
    504,
    'DEADLINE_EXCEEDED',
    'Allow more time. With RETURN_SAFE, a resolve or a step returns the last safe state once its start has been verified.',
  ),
  CANCELLED: kind(499, 'CANCELLED', 'The caller disconnected; nothing was changed.'),
  DEVICE_LOST: kind(503, 'UNAVAILABLE', 'Retry; the device is being reopened.', true),
  DRAINING: kind(503, 'UNAVAILABLE', 'This server is shutting down. Connect to another one.', true),
  STORE_UNAVAILABLE: kind(
    503,
    'UNAVAILABLE',
    'The session store does not answer. Send the request again: a step with a frame is computed at most once.',
    true,
  ),
  SESSION_MOVED: kind(
    503,
    'UNAVAILABLE',
    'Other processes use this session at the same time. Send the request again, and send the steps of a session one at a time.',
    true,
  ),
  FRAME_LOST: kind(
    409,
    'FAILED_PRECONDITION',
    'The service has lost the frames of this session after `frame`. Send them again from there, or create the session again from your mesh and your last answer.',
  ),
  OUT_OF_DEVICE_MEMORY: kind(
    503,
    'RESOURCE_EXHAUSTED',
    'Send a smaller mesh, or retry when other requests have finished.',
    true,
  ),
  UNIMPLEMENTED: kind(
    501,
    'UNIMPLEMENTED',
    'Leave out what the message names, or call a service that has it; GET /v1 lists engines, methods, qualities and features.',
  ),
  INTERNAL: kind(500, 'INTERNAL', 'This is a fault of the service. Please report it with the request id.'),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** A suspicious property of the input that does not prevent an answer. */
export interface Warning {
  /** Stable name: UNUSED_VERTICES, ZERO_LENGTH_EDGE, ZERO_AREA_TRIANGLE, ... */
  readonly code: string;
  readonly message: string;
  /** First affected element. */
  readonly element?: ElementRef;
  /** Number of affected elements. */
  readonly count: number;
}

export interface ErrorDetails {
  readonly hint?: string;
  /** Element at fault. */
  readonly element?: ElementRef;
  /** Some of the pairs at fault. */
  readonly pairs?: readonly ElementPair[];
  /** Number of all pairs at fault. */
  readonly pairCount?: number;
  /** Last accepted frame of the session. */
  readonly frame?: bigint;
  /** Seconds to wait before a retry. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** The only error type that crosses module boundaries intentionally. Any other error is reported as INTERNAL. */
export class IntersticeError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly element: ElementRef | undefined;
  readonly pairs: readonly ElementPair[];
  readonly pairCount: number;
  readonly frame: bigint | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'IntersticeError';
    this.code = code;
    this.hint = details.hint ?? ERRORS[code].hint;
    this.element = details.element;
    this.pairs = details.pairs ?? [];
    this.pairCount = details.pairCount ?? this.pairs.length;
    this.frame = details.frame;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  /** A plain object that can be cloned between threads; {@link fromPlain} is the inverse. */
  toPlain(): PlainError {
    return {
      code: this.code,
      message: this.message,
      details: {
        hint: this.hint,
        ...(this.element ? { element: this.element } : {}),
        pairs: this.pairs,
        pairCount: this.pairCount,
        ...(this.frame === undefined ? {} : { frame: this.frame }),
        ...(this.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: this.retryAfterSeconds }),
      },
    };
  }

  static fromPlain(plain: PlainError): IntersticeError {
    return new IntersticeError(plain.code, plain.message, plain.details);
  }

  /**
   * Returns an IntersticeError unchanged, and wraps any other value with that value as its cause: as
   * OUT_OF_DEVICE_MEMORY if the system has no memory for an array, otherwise as INTERNAL.
   */
  static from(thrown: unknown): IntersticeError {
    if (thrown instanceof IntersticeError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    if (thrown instanceof RangeError && message === NO_MEMORY_MESSAGE) {
      const reason = 'The system has no memory for an array of this request now.';
      return new IntersticeError('OUT_OF_DEVICE_MEMORY', reason, { cause: thrown, retryAfterSeconds: 1 });
    }
    return new IntersticeError('INTERNAL', message, { cause: thrown });
  }
}

/** With it V8 refuses an array for which the system has no memory. No other property of the error tells. */
const NO_MEMORY_MESSAGE = 'Array buffer allocation failed';

/** The error of a call whose caller has cancelled it or disconnected. */
export function cancelled(details?: ErrorDetails): IntersticeError {
  return new IntersticeError('CANCELLED', 'The caller cancelled the request or disconnected.', details);
}

/** The refusal of calls while the server shuts down. */
export function draining(details?: ErrorDetails): IntersticeError {
  return new IntersticeError('DRAINING', 'This server is shutting down.', details);
}

/** An {@link IntersticeError} as plain data. */
export interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
}
