import { SCENES } from '../../examples/scenes/index.js';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { Priority } from '../../src/contract/requests.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';

/** A mesh with two targets that a session takes in turn, so that every step has work. */
export interface Cloth {
  readonly vertices: number;
  readonly triangles: number;
  /** the arrays are the caller's, little-endian like the wire */
  readonly mesh: MeshInput;
  readonly start: Float32Array;
  readonly targets: readonly [Float32Array, Float32Array];
}

/** How far each layer moves towards the other one's place: far enough for them to meet, not so far that they change places. */
const MEET = 0.5;

/**
 * Two layers of cloth of about so many vertices together.
 *
 * @param share of the way to the other layer's place that each layer goes and comes back
 */
export function makeCloth(vertices: number, share = MEET): Cloth {
  const scene = SCENES.layers!(vertices);
  const start = Float32Array.from(scene.start);
  const meeting = start.map((from, i) => from + share * (scene.target[i]! - from));
  return {
    vertices: scene.vertexCount,
    triangles: scene.triangles.length / 3,
    mesh: { vertexCount: scene.vertexCount, triangles: scene.triangles },
    start,
    targets: [meeting, start],
  };
}

/** The whole motion for a single resolve: each layer's target is the place of the other one. */
export function makeSwap(vertices: number): { readonly cloth: Cloth; readonly target: Float32Array } {
  const cloth = makeCloth(vertices);
  const target = cloth.start.map((from, i) => from + (cloth.targets[0][i]! - from) / MEET);
  return { cloth, target };
}

const positions = (data: Float32Array): object => ({ data, scalar: 'FLOAT32' });

/** @param quality of the session; undefined = the server's default */
export const createMessage = ({ mesh, start }: Cloth, quality?: Quality): Uint8Array =>
  encodeMessage('CreateSessionRequest', {
    mesh,
    start: positions(start),
    ...(quality === undefined ? {} : { parameters: { quality } }),
  });

export interface StepTerms {
  /** seconds; what is later is refused (FAIL) */
  readonly deadline?: number | undefined;
  readonly stepLimit?: number | undefined;
  readonly priority?: Priority | undefined;
}

export const stepMessage = (
  sessionId: string,
  target: Float32Array,
  { deadline, stepLimit, priority }: StepTerms = {},
): Uint8Array =>
  encodeMessage('StepRequest', {
    sessionId,
    target: positions(target),
    ...(deadline === undefined ? {} : { timeBudget: durationOf(deadline), onBudget: 'FAIL' }),
    ...(stepLimit === undefined ? {} : { override: { stepLimit } }),
    ...(priority === undefined ? {} : { priority }),
  });

/** @param terms without a deadline it may take as long as the server allows */
export const resolveMessage = (
  cloth: Cloth,
  target: Float32Array,
  { deadline, priority }: Pick<StepTerms, 'deadline' | 'priority'> = {},
): Uint8Array =>
  encodeMessage('ResolveRequest', {
    mesh: cloth.mesh,
    start: positions(cloth.start),
    target: positions(target),
    ...(deadline === undefined ? {} : { timeBudget: durationOf(deadline) }),
    ...(priority === undefined ? {} : { priority }),
  });

const durationOf = (seconds: number): object => ({
  seconds: BigInt(Math.floor(seconds)),
  nanos: Math.round((seconds % 1) * 1e9),
});

/** The same bytes, as clients hand them to their sockets. */
export const asBuffer = (view: ArrayBufferView): Buffer => Buffer.from(view.buffer, view.byteOffset, view.byteLength);
