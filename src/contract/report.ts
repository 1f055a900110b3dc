import type { ElementPair, ElementRef } from './errors.js';
import type { Parameters, VerifyLevel } from './parameters.js';

export type Status = 'CONVERGED' | 'STALLED' | 'STEP_LIMIT' | 'DEADLINE';

export interface Progress {
  readonly steps: number;
  /** ‖r‖∞ */
  readonly residual: number;
  readonly unfinishedVertices: number;
}

/** Microseconds spent in each stage of one resolve. */
export interface StageTimings {
  search: number;
  geometry: number;
  backward: number;
  forward: number;
}

export interface PairCounts {
  vertexTriangle: number;
  edgeEdge: number;
  vertexEdge: number;
  vertexVertex: number;
  activeContacts: number;
  colours: number;
}

export interface EngineDescription {
  /** "cpu" or "webgpu: NAME" */
  readonly name: string;
  readonly adapter: string;
  readonly software: boolean;
  readonly maxBufferBytes: number;
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
