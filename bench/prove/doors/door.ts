import type { MeshInput, Positions } from '../../../src/contract/mesh.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import type { WireStrain } from '../judge/strain-judge.js';

interface WireFidelity {
  readonly distanceToTargetRms: number;
  readonly distanceToTargetMax: number;
  readonly overlongEdges: string;
}

/** The report as an independent client reads it: enums by name, 64-bit counts as strings. */
export interface WireReport {
  readonly status: string;
  readonly steps: number;
  readonly searches: number;
  readonly proximitySetReused: boolean;
  readonly residual: number;
  readonly unfinishedVertices: number;
  readonly unreachedKinematic: number;
  readonly deflectedVertices: number;
  readonly distanceToTargetMax: number;
  readonly distanceToTargetRms: number;
  readonly kinematicDistanceMax: number;
  readonly overlongEdges: string;
  readonly worstEdge?: { readonly a: number; readonly b: number; readonly stretch: number };
  /** an empty list may be absent */
  readonly limitingEdges?: readonly { readonly a: number; readonly b: number; readonly stretch: number }[];
  readonly pullBack?: { readonly steps: number; readonly before: WireFidelity; readonly after: WireFidelity };
  readonly maxStretch: number;
  readonly strain?: WireStrain;
  readonly minDistance?: number;
  readonly ignoredPairCount: string;
  readonly intersectingPairCount?: string;
  readonly verification: { readonly performed: string; readonly intersections: string; readonly fellBack: boolean };
  readonly resolved: {
    readonly activationDistance: number;
    readonly reach: number;
    readonly leap: number;
    readonly searchRadiusMax: number;
    readonly stepLimit: number;
    readonly residualTolerance: number;
    readonly stretchLimit: number;
    readonly quality: string;
    /** absent = TWO_WAY */
    readonly method?: string;
    readonly preset: string;
    readonly kinematicPairs: 'SKIP' | 'PROTECT';
  };
  /** absent if the door sends no lists: raw floats */
  readonly warnings?: readonly { readonly code: string }[];
  /** µs, by stage */
  readonly timings?: Readonly<Record<string, number>>;
  readonly sessionRebuilt: boolean;
  readonly engine: string;
}

export interface Answer {
  readonly positions: Positions;
  readonly report: WireReport;
}

/** Options of an untangling, besides mesh, positions and parameters. */
export interface UntangleTerms {
  readonly layers?: readonly { readonly inner: string; readonly outer: string; readonly side?: string }[];
  readonly maxIterations?: number;
  readonly maxDisplacement?: number;
  /** s; default that of every request */
  readonly budgetSeconds?: number;
}

interface WireMoved {
  readonly vertices: number;
  readonly mean: number;
  readonly max: number;
}

/** The report of an untangling as an independent client reads it; an empty list may be absent. */
export interface WireUntangleReport {
  readonly status: 'FREE' | 'PARTIAL' | 'UNRESOLVED';
  readonly piercesBefore: string;
  readonly piercesAfter: string;
  readonly piercesByIteration?: readonly string[];
  readonly regions: WireMoved;
  readonly outside: WireMoved;
  readonly maxStretch: number;
  readonly minStretch: number;
  readonly leftOutVertices: string;
  readonly ended?: string;
  readonly remaining?: readonly { readonly a: readonly number[]; readonly b: readonly number[] }[];
  readonly engine: string;
}

export interface Untangled {
  readonly positions: Positions;
  /** uint32[V] */
  readonly regions: Uint32Array;
  readonly report: WireUntangleReport;
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly pairCount: number;
  readonly isRetryable: boolean;
}

export type Reply = { readonly answer: Answer } | { readonly refusal: Refusal };
export type Opened = { readonly id: string } | { readonly refusal: Refusal };

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** identifies the request, and the folder of its trace */
  readonly requestId?: string;
}

export interface PartTarget {
  readonly part: string;
  readonly target: Positions;
}

/** Options of a step besides its target. */
export interface StepTerms {
  /** instead of the whole target: the parts of it that changed; none of them = continue as before */
  readonly parts?: readonly PartTarget[];
  /** instead of the last answer: a return to an earlier state */
  readonly start?: Positions;
  /** uint8[V], from this step on */
  readonly kinematic?: Uint8Array;
}

/** One of the doors of the service. All of them are equivalent, so that a case may use any. */
export interface Door {
  resolve(
    mesh: MeshInput,
    start: Positions,
    target: Positions,
    parameters: ParametersInput,
    options?: CallOptions,
  ): Promise<Reply>;
  untangle(
    mesh: MeshInput,
    positions: Positions,
    parameters: ParametersInput,
    terms: UntangleTerms,
    options?: CallOptions,
  ): Promise<Untangled | { readonly refusal: Refusal }>;
  createSession(mesh: MeshInput, start: Positions, parameters: ParametersInput): Promise<Opened>;
  /** @param target the whole target, sent unless the terms have parts; the answer has its length and scalar */
  step(id: string, frame: bigint, target: Positions, terms?: StepTerms, options?: CallOptions): Promise<Reply>;
  /** one step of a whole target by the door's shortest path: raw floats, or the stream */
  stepFast(id: string, frame: bigint, target: Positions): Promise<Reply>;
  deleteSession(id: string): Promise<void>;
  /** How many pairs the service finds in a state, and whether it calls the path to `end` free. */
  check(
    mesh: MeshInput,
    x: Positions,
    end?: Positions,
  ): Promise<{ readonly count: number; readonly pathFree: boolean | undefined }>;
  close(): void;
}

/** A hard case must not use up the whole campaign; the state reached by then is safe and is judged like any answer. */
export const BUDGET_SECONDS = 10;

export function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** @throws if the answer does not have the length and scalar of its target */
export function toPositions(bytes: Uint8Array, like: Positions, scalar?: string): Positions {
  const expected = like instanceof Float64Array ? 'FLOAT64' : 'FLOAT32';
  if (bytes.byteLength !== like.byteLength || (scalar !== undefined && scalar !== expected))
    throw new Error(`${bytes.byteLength} bytes of ${scalar}, not ${like.byteLength} of ${expected}.`);
  // Not slice(): that of a Buffer shares the pool's memory.
  const copy = new Uint8Array(bytes).buffer;
  return like instanceof Float64Array ? new Float64Array(copy) : new Float32Array(copy);
}

/**
 * Sends a request again if its connection was lost. While the judge computes for minutes it answers nothing on its
 * connections, the service may close them, and the next request on one is lost before the service receives it.
 * Repeating is safe: a frame that is sent twice is applied once, and a resolve keeps nothing. A service that has died
 * refuses the repeated one, too.
 */
export async function sendAgainIfLost<T>(send: () => Promise<T>, isLost: (error: unknown) => boolean): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await send();
    } catch (error) {
      if (n === ATTEMPTS || !isLost(error)) throw error;
    }
  }
}

const ATTEMPTS = 3;

/** Codes of sockets that the other side closed; not ECONNREFUSED, which means that nothing listens. */
const CLOSED = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** Whether fetch failed because the connection had been closed. */
export function isClosedSocket(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { readonly code?: string } | undefined) : undefined;
  return CLOSED.includes(cause?.code ?? '');
}

/** Whether a gRPC call failed because of its connection, as its code says (UNAVAILABLE), not because of a refusal. */
export function isLostCall(error: unknown): boolean {
  return (error as { readonly code?: number }).code === UNAVAILABLE;
}

const UNAVAILABLE = 14;
