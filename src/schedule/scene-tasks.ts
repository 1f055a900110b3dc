import type { MeshInput, Positions } from '../mesh/types.js';
import type { IncludeInput, MeshSummary, OnBudget, ResolveAnswer, Warning } from '../session/types.js';
import type { Parameters, ParametersInput } from '../solver/types.js';

/**
 * What a session asks of the schedule. The session room holds the truth (mesh, committed state, parameters); a worker
 * thread holds a scene of it, which is a cache: built from this when it is not there, or not of these versions.
 */
export interface SceneState {
  /** names the scene; unique in this process, never used again */
  readonly key: number;
  /** changes with the mesh: kinematic flags, masses */
  readonly meshVersion: number;
  readonly mesh: MeshInput;
  /** changes with every committed answer */
  readonly stateVersion: number;
  /** [3·V] the committed state, the caller's unit: the start of frame 0, then the last answer */
  readonly start: Positions;
}

/** Builds a scene and says what is to be said about it: mesh, start and parameters are checked as for a resolve. */
export interface OpenTask {
  readonly state: SceneState;
  readonly parameters: ParametersInput;
  /** ms of the shared clock */
  readonly receivedAt: number;
  readonly queuedAt: number;
}

export interface OpenAnswer {
  readonly summary: MeshSummary;
  readonly resolved: Parameters;
  readonly warnings: readonly Warning[];
  /** bytes that the scene holds in its worker, on the device and on the host */
  readonly residentBytes: number;
}

export interface StepTask {
  readonly state: SceneState;
  /** the stateVersion of the answer, should the session commit it; used once */
  readonly nextVersion: number;
  /** [3·V] the caller's own start: checked before it is used; absent = the committed state */
  readonly start?: Positions;
  readonly target: Positions;
  /** the session's, with the step's override laid over them */
  readonly parameters: ParametersInput;
  readonly include?: IncludeInput;
  readonly timeBudgetSeconds?: number;
  readonly onBudget?: OnBudget;
  readonly receivedAt: number;
  readonly queuedAt: number;
}

/** `report.sessionRebuilt` says that the worker had lost the scene (a thread or a device died) and built it again. */
export interface StepOutcome extends ResolveAnswer {
  readonly residentBytes: number;
}
