import type { ErrorCode } from '../../src/contract/errors.js';
import type { OperationName } from '../../src/contract/operations.js';

/**
 * Calls that every transport must answer alike. Requests and answers are in the JSON mapping of the contract, with bulk fields
 * as arrays of numbers; a transport with another encoding converts them. `$id` stands for the id of the session or job
 * that an earlier call of the same case created.
 */

export interface Json {
  readonly [name: string]: unknown;
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly message?: RegExp;
  readonly hint?: RegExp;
  readonly element?: Json;
  readonly pairs?: readonly Json[];
}

export interface Call {
  readonly operation: OperationName;
  readonly request: Json;
  /** part of the answer, as tap's `match` compares: regular expressions and constructors stand for what fits them */
  readonly answer?: Json;
  readonly refusal?: Refusal;
}

export interface Case {
  readonly name: string;
  readonly calls: readonly Call[];
}

export const MESH = { vertexCount: 6, triangles: [0, 1, 2, 3, 4, 5] };
export const START = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, 0.5, 1.25, 0.25, 0.5, 0.25, 1.25, 0.5];
export const raisedBy = (height: number) => START.map((value, i) => (i >= 9 && i % 3 === 2 ? value + height : value));
/** nothing in the way */
export const FREE = raisedBy(0.25);
/** the second triangle is asked to pass through the first */
export const CROSSING = raisedBy(-1);
/** the second triangle, a tenth as large, below the first: one step does not bring it there */
export const SHRUNK = START.map((value, i) => (i < 9 ? value : i % 3 === 2 ? -0.5 : 0.3 + 0.1 * (value - 0.25)));
/** pierced: the last vertex hangs below the first triangle */
export const PIERCED = START.map((value, i) => (i === 11 ? -0.5 : value));

/** The two triangles as parts. @param lower of the first one */
export const halves = (lower: Json) => [
  { name: 'lower', firstVertex: 0, vertexCount: 3, ...lower },
  { name: 'upper', firstVertex: 3, vertexCount: 3 },
];

export const float32 = (data: readonly number[]) => ({ data, scalar: 'FLOAT32' });
export const float64 = (data: readonly number[]) => ({ data, scalar: 'FLOAT64' });
export const open = (over: Json = {}, answer: Json = {}): Call => ({
  operation: 'createSession',
  request: { mesh: MESH, start: float32(START), ...over },
  answer: {
    id: /^.{16,}$/,
    frame: '0',
    residency: /RESIDENT|PARKED/,
    mesh: { vertices: 6, triangles: '2' },
    ...answer,
  },
});
