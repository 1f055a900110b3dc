/**
 * The one table of refusals. Both transports, the command line, the clients' docs and the OpenAPI document read it;
 * nothing else in the project knows an HTTP or gRPC status of an error.
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
  /** The same request may succeed later, unchanged. */
  readonly retryable: boolean;
  /** What the caller can do about it, when the place that refused has nothing more precise to say. */
  readonly hint: string;
}

const kind = (http: number, grpc: ErrorKind['grpc'], hint: string, retryable = false): ErrorKind => ({
  http,
  grpc,
  retryable,
  hint,
});

export const ERRORS = {
  MALFORMED_BODY: kind(400, 'INVALID_ARGUMENT', 'Check the body against the reference at /docs.'),
  UNKNOWN_FIELD: kind(400, 'INVALID_ARGUMENT', 'Remove the field, or correct its spelling; names are case-sensitive.'),
  INVALID_PARAMETER: kind(400, 'INVALID_ARGUMENT', 'Use a value inside the stated range, or leave the field unset.'),
  INVALID_MESH: kind(400, 'INVALID_ARGUMENT', 'Repair the named element.'),
  INDEX_OUT_OF_RANGE: kind(400, 'INVALID_ARGUMENT', 'Vertex ids count from 0 and stay below the vertex count.'),
  SIZE_MISMATCH: kind(400, 'INVALID_ARGUMENT', 'Send arrays of the stated length.'),
  NOT_FINITE: kind(400, 'INVALID_ARGUMENT', 'Replace NaN and infinity before sending.'),
  COORDINATE_RANGE: kind(400, 'INVALID_ARGUMENT', 'Bring the coordinates closer to the extent of the mesh.'),
  INTERSECTING_START: kind(
    422,
    'FAILED_PRECONDITION',
    'The start must be free of intersections: separate the named pairs and send it again.',
  ),
  TOLERANCE_TOO_SMALL: kind(
    422,
    'FAILED_PRECONDITION',
    'Ask for at least the stated distance, send float64, or move the mesh closer to the origin.',
  ),
  FRAME_OUT_OF_ORDER: kind(409, 'FAILED_PRECONDITION', 'Send a frame greater than the last accepted one.'),
  FRAME_CONFLICT: kind(409, 'FAILED_PRECONDITION', 'This frame was answered for another payload; use a new frame.'),
  SESSION_NOT_FOUND: kind(404, 'NOT_FOUND', 'Create the session again from your mesh and last answer.'),
  NOT_FOUND: kind(404, 'NOT_FOUND', 'See /docs for the paths of this service.'),
  TOO_LARGE: kind(413, 'RESOURCE_EXHAUSTED', 'Send less than the stated limit, or raise it in the configuration.'),
  QUEUE_FULL: kind(429, 'RESOURCE_EXHAUSTED', 'Try again after the stated time.', true),
  QUOTA_EXCEEDED: kind(429, 'RESOURCE_EXHAUSTED', 'Close sessions you no longer need, or try again later.', true),
  UNAUTHENTICATED: kind(401, 'UNAUTHENTICATED', 'Send a valid API key.'),
  PERMISSION_DENIED: kind(403, 'PERMISSION_DENIED', 'This key may not do that.'),
  METHOD_NOT_ALLOWED: kind(405, 'INVALID_ARGUMENT', 'See the Allow header for the methods of this path.'),
  NOT_ACCEPTABLE: kind(406, 'INVALID_ARGUMENT', 'Accept one of the stated media types.'),
  UNSUPPORTED_MEDIA_TYPE: kind(
    415,
    'INVALID_ARGUMENT',
    'Send one of the stated media types, without content encoding.',
  ),
  DEADLINE_EXCEEDED: kind(
    504,
    'DEADLINE_EXCEEDED',
    'Allow more time. RETURN_SAFE answers with what was reached, once the start has passed its test.',
  ),
  CANCELLED: kind(499, 'CANCELLED', 'The caller went away; nothing changed.'),
  DEVICE_LOST: kind(503, 'UNAVAILABLE', 'Try again; the device is being opened anew.', true),
  DRAINING: kind(503, 'UNAVAILABLE', 'This server is shutting down; connect to another one.', true),
  OUT_OF_DEVICE_MEMORY: kind(
    503,
    'RESOURCE_EXHAUSTED',
    'Send a smaller mesh, or try again when others are done.',
    true,
  ),
  UNIMPLEMENTED: kind(501, 'UNIMPLEMENTED', 'This part of the contract is not built yet.'),
  INTERNAL: kind(500, 'INTERNAL', 'This is a fault of the service; please report it with the request id.'),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** The element at fault: its kind ("triangle", "vertex", "edge", ...), index in the caller's own numbering, vertices. */
export interface ElementRef {
  readonly kind: string;
  readonly index: number;
  readonly vertices: readonly number[];
}

/** Names of the kinds of pairs, as in the contract. */
export type PairKind = 'VERTEX_TRIANGLE' | 'EDGE_EDGE' | 'VERTEX_EDGE' | 'VERTEX_VERTEX' | 'EDGE_TRIANGLE';

/** Two elements by their vertex ids; distance in the caller's unit where it is known. */
export interface ElementPair {
  readonly kind: PairKind;
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly distance?: number;
  readonly normal?: readonly [number, number, number];
}

export interface ErrorDetails {
  readonly hint?: string;
  readonly element?: ElementRef;
  /** A few of the pairs at fault; pairCount is the complete number. */
  readonly pairs?: readonly ElementPair[];
  readonly pairCount?: number;
  /** Seconds after which a retry makes sense. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** The only error type that leaves a room on purpose. Anything else that escapes is reported as INTERNAL. */
export class IntersticeError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly element: ElementRef | undefined;
  readonly pairs: readonly ElementPair[];
  readonly pairCount: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'IntersticeError';
    this.code = code;
    this.hint = details.hint ?? ERRORS[code].hint;
    this.element = details.element;
    this.pairs = details.pairs ?? [];
    this.pairCount = details.pairCount ?? this.pairs.length;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  /** A plain object that survives structured cloning between threads; {@link fromPlain} is its inverse. */
  toPlain(): PlainError {
    return {
      code: this.code,
      message: this.message,
      details: {
        hint: this.hint,
        ...(this.element ? { element: this.element } : {}),
        pairs: this.pairs,
        pairCount: this.pairCount,
        ...(this.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: this.retryAfterSeconds }),
      },
    };
  }

  static fromPlain(plain: PlainError): IntersticeError {
    return new IntersticeError(plain.code, plain.message, plain.details);
  }

  /** Wraps whatever was thrown: an IntersticeError stays itself, anything else becomes INTERNAL with its cause kept. */
  static from(thrown: unknown): IntersticeError {
    if (thrown instanceof IntersticeError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new IntersticeError('INTERNAL', message, { cause: thrown });
  }
}

export interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
}
