import type { Warning } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { Parameters, ParametersInput } from '../contract/parameters.js';
import type { IncludeInput, OnBudget, ResolveAnswer } from '../contract/requests.js';
import type { MeshSummary } from '../contract/sessions.js';
import type { MeshMeasures } from '../mesh/types.js';

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

/** `measures` of frame 0, where they are known: a scene that was lost is built again from a later state. */
export interface OpenMessage extends OpenTask {
  readonly measures: MeshMeasures | undefined;
}

/** A scene's versions, with what the worker lacks of them. */
export interface SceneDelta extends Pick<SceneState, 'key' | 'meshVersion' | 'stateVersion'> {
  readonly mesh: MeshInput | undefined;
  readonly start: Positions | undefined;
}

export interface StepMessage extends Omit<StepTask, 'state'> {
  /** [3·V] may lie in shared memory that is written again after this job: copied by whoever keeps it */
  readonly target: Positions;
  readonly state: SceneDelta;
  readonly measures: MeshMeasures | undefined;
  /** the worker that had the scene died: it is built again without having been parked */
  readonly wasLost: boolean;
}
