import type { MeshLimits } from './mesh.js';
import type { MethodName, ParametersInput, Quality } from './parameters.js';

/** Upper bounds of one server. */
export interface Limits extends MeshLimits {
  /** Size of one request body or message. */
  readonly maxMessageBytes: number;
  readonly maxSessions: number;
  /** Memory of all sessions on the device. */
  readonly maxDeviceBytes: number;
  /** Requests that may wait. */
  readonly maxQueue: number;
  readonly maxTimeBudgetSeconds: number;
  /** For requests that set none; absent = none. */
  readonly defaultTimeBudgetSeconds?: number;
}

/** Memory that requests may take while they are computed. */
export interface MemoryLimits {
  /** Pairs that the proximity set of one resolve or step may have. */
  readonly maxPairsPerRequest: number;
  /** Host memory that all requests may compute on together; 0 = no limit. */
  readonly maxWorkBytes: number;
}

export interface EngineDescription {
  /** "cpu" or "webgpu: NAME" */
  readonly name: string;
  readonly adapter: string;
  /** Whether a CPU emulates the device. */
  readonly software: boolean;
  readonly maxBufferBytes: number;
  /** The qualities that it supports; absent = FAST only. */
  readonly qualities?: readonly Quality[];
  /** The methods that it supports; absent = TWO_WAY only. */
  readonly methods?: readonly MethodName[];
  /** Whether its pull-back observes strain limits; absent = it does not, and meshes with such limits are refused. */
  readonly strainLimits?: boolean;
}

export interface ServerInfo {
  readonly version: string;
  readonly algorithmVersion: string;
  readonly engines: readonly EngineDescription[];
  readonly limits: Limits & MemoryLimits;
  /** Parameters of a request that sets none. */
  readonly defaults: ParametersInput;
  /** Capabilities of this build under its settings, e.g. "resolve", "check", "http". A missing capability answers UNIMPLEMENTED. */
  readonly features: readonly string[];
}
