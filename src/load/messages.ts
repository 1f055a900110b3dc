import type { MeshInput } from '../contract/mesh.js';
import type { Quality } from '../contract/parameters.js';
import type { Priority } from '../contract/requests.js';
import { encodeMessage } from '../transport/protobuf/encode.js';

/** A mesh with two targets that a session uses alternately, so that every step has work. */
export interface Subject {
  readonly vertices: number;
  readonly triangles: number;
  /** the arrays are the caller's, little-endian like the wire */
  readonly mesh: MeshInput;
  readonly start: Float32Array;
  readonly targets: readonly [Float32Array, Float32Array];
}

const positions = (data: Float32Array): object => ({ data, scalar: 'FLOAT32' });

/** Terms of a session to open; absent = the server's default. */
export interface SessionTerms {
  readonly quality?: Quality | undefined;
  readonly label?: string | undefined;
  /** seconds without use after which the server ends the session */
  readonly idleTimeout?: number | undefined;
}

export const createMessage = (
  { mesh, start }: Pick<Subject, 'mesh' | 'start'>,
  { quality, label, idleTimeout }: SessionTerms = {},
): Uint8Array =>
  encodeMessage('CreateSessionRequest', {
    mesh,
    start: positions(start),
    ...(quality === undefined ? {} : { parameters: { quality } }),
    ...(label === undefined ? {} : { label }),
    ...(idleTimeout === undefined ? {} : { idleTimeout: durationOf(idleTimeout) }),
  });

export interface StepTerms {
  /** seconds after which the step is refused (FAIL) */
  readonly deadline?: number | undefined;
  readonly stepLimit?: number | undefined;
  readonly priority?: Priority | undefined;
}

/** @param sessionId empty if the path of the request contains it */
export const stepMessage = (
  sessionId: string,
  target: Float32Array,
  { deadline, stepLimit, priority }: StepTerms = {},
): Uint8Array =>
  encodeMessage('StepRequest', {
    ...(sessionId === '' ? {} : { sessionId }),
    target: positions(target),
    ...(deadline === undefined ? {} : { timeBudget: durationOf(deadline), onBudget: 'FAIL' }),
    ...(stepLimit === undefined ? {} : { override: { stepLimit } }),
    ...(priority === undefined ? {} : { priority }),
  });

/** @param terms without a deadline the resolve may take as long as the server allows */
export const resolveMessage = (
  { mesh, start }: Pick<Subject, 'mesh' | 'start'>,
  target: Float32Array,
  { deadline, priority }: Pick<StepTerms, 'deadline' | 'priority'> = {},
): Uint8Array =>
  encodeMessage('ResolveRequest', {
    mesh,
    start: positions(start),
    target: positions(target),
    ...(deadline === undefined ? {} : { timeBudget: durationOf(deadline) }),
    ...(priority === undefined ? {} : { priority }),
  });

export const deleteMessage = (sessionId: string): Uint8Array => encodeMessage('DeleteSessionRequest', { sessionId });

const durationOf = (seconds: number): object => ({
  seconds: BigInt(Math.floor(seconds)),
  nanos: Math.round((seconds % 1) * 1e9),
});

/** The same bytes as a Buffer, as clients pass them to sockets. */
export const asBuffer = (view: ArrayBufferView): Buffer => Buffer.from(view.buffer, view.byteOffset, view.byteLength);
