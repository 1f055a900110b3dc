import type { ElementPair, ElementRef } from '../errors.js';
import type { MeshInput, Positions } from '../mesh/types.js';
import type {
  EngineDescription,
  KinematicPairs,
  PairCounts,
  Parameters,
  ParametersInput,
  Progress,
  Status,
  VerifyLevel,
} from '../solver/types.js';

/**
 * The operations of the service as plain data, free of transports. Names are the contract's in lowerCamelCase; uint64
 * counts are numbers here, durations are seconds, bulk arrays are typed arrays.
 */

export type OnBudget = 'RETURN_SAFE' | 'FAIL';

export interface IncludeInput {
  readonly contacts?: boolean;
  readonly vertices?: boolean;
  /** default 2 δ */
  readonly contactDistance?: number;
}

export interface ResolveRequest {
  readonly mesh: MeshInput;
  readonly start: Positions;
  readonly target: Positions;
  readonly parameters: ParametersInput;
  readonly include?: IncludeInput;
  readonly timeBudgetSeconds?: number;
  /** default RETURN_SAFE */
  readonly onBudget?: OnBudget;
}

export interface ResolveAnswer {
  /** same scalar as the target */
  readonly positions: Positions;
  readonly report: Report;
  readonly contacts?: Contacts;
  readonly vertices?: VertexReport;
}

export interface CheckRequest {
  readonly mesh: MeshInput;
  readonly positions: Positions;
  readonly pathEnd?: Positions;
  readonly reportPairsCloserThan?: number;
  /** default 64 */
  readonly maxPairs?: number;
  readonly kinematicPairs?: KinematicPairs;
}

export interface CheckAnswer {
  readonly intersectionFree: boolean;
  readonly intersectionCount: number;
  readonly intersections: readonly ElementPair[];
  readonly kinematicIntersectionCount: number;
  readonly minDistance?: number;
  readonly closePairs: readonly ElementPair[];
  readonly pathFree?: boolean;
  readonly earliestImpact?: number;
}

/** Microseconds. */
export interface Timings {
  queue: number;
  decode: number;
  upload: number;
  search: number;
  geometry: number;
  backward: number;
  forward: number;
  verify: number;
  readback: number;
  encode: number;
  total: number;
}

export interface Verification {
  readonly performed: VerifyLevel;
  readonly pairsTested: number;
  readonly doubtfulPairs: number;
  readonly intersections: number;
  readonly fellBack: boolean;
}

export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly element?: ElementRef;
  readonly count: number;
}

export interface Report {
  readonly status: Status;
  readonly steps: number;
  readonly searches: number;
  readonly proximitySetReused: boolean;
  readonly residual: number;
  readonly unfinishedVertices: number;
  readonly unreachedKinematic: number;
  readonly deflectedVertices: number;
  readonly distanceToTargetMax: number;
  readonly distanceToTargetRms: number;
  readonly maxStretch: number;
  readonly minDistance?: number;
  readonly pairs: PairCounts;
  readonly touchingPairs: number;
  readonly ignoredPairCount: number;
  readonly ignoredPairs: readonly ElementPair[];
  readonly limitingPairs: readonly ElementPair[];
  readonly verification: Verification;
  readonly timings: Timings;
  readonly resolved: Parameters;
  readonly warnings: readonly Warning[];
  readonly sessionRebuilt: boolean;
  readonly engine: string;
  readonly version: string;
}

export interface Contacts {
  readonly kinds: Uint8Array;
  readonly vertices: Uint32Array;
  readonly weights: Float32Array;
  readonly normals: Float32Array;
  readonly distances: Float32Array;
}

export interface VertexReport {
  readonly residual: Float32Array;
  readonly distanceToTarget: Float32Array;
  readonly unreachedKinematic: Uint32Array;
}

export interface Limits {
  readonly maxVertices: number;
  readonly maxElements: number;
  readonly maxMessageBytes: number;
  readonly maxSessions: number;
  readonly maxDeviceBytes: number;
  readonly maxQueue: number;
  readonly maxTimeBudgetSeconds: number;
}

export interface ServerInfo {
  readonly version: string;
  readonly algorithmVersion: string;
  readonly engines: readonly EngineDescription[];
  readonly limits: Limits;
  readonly defaults: ParametersInput;
  /** what this build offers, e.g. "resolve", "check", "http", "multipart"; what is absent answers UNIMPLEMENTED */
  readonly features: readonly string[];
}

/** What a transport knows about one call. */
export interface CallContext {
  /** aborted when the caller goes away: the computation stops at the next step and the call ends with CANCELLED */
  readonly signal?: AbortSignal;
  /** performance.now() when the first byte of the request arrived; the time budget counts from here */
  readonly receivedAt?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** every state of the path in the answer's scalar, start first, answer last (command line's --trace); awaited */
  readonly onState?: (positions: Positions) => void;
}

/** What the transports and the command line call. Every method throws IntersticeError. */
export interface Operations {
  resolve(request: ResolveRequest, context?: CallContext): Promise<ResolveAnswer>;
  check(request: CheckRequest, context?: CallContext): Promise<CheckAnswer>;
  info(): ServerInfo;
  /** resolves once the service can take requests; rejects with the reason when it never will */
  ready(): Promise<void>;
  close(): Promise<void>;
}
