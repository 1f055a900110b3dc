import type { Warning } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { Parameters, ParametersInput } from '../contract/parameters.js';
import type { IncludeInput, OnBudget, ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import type { MeshSummary } from '../contract/sessions.js';
import type { UntangleRequest } from '../contract/untangle.js';
import type { MeshMeasures } from '../mesh/types.js';
import type { ThinElements } from '../solver/volume-impulses/check.js';
import type { SavedSession } from './saved-session.js';

/*
 * Inputs and results of the jobs. `src/session` owns the state of a session (mesh, committed state, parameters). The
 * thread of a lane holds a scene of it, which is a cache: the thread rebuilds it if it is missing or has other
 * versions.
 */

/** When a request arrived, in ms of the shared clock: the time budget and the timings count from here. */
export interface Arrival {
  /** the first byte of the request */
  readonly receivedAt: number;
  /** the request was decoded and entered the queue */
  readonly queuedAt: number;
}

export interface TimeBudget {
  readonly timeBudgetSeconds?: number | undefined;
  /** default RETURN_SAFE */
  readonly onBudget?: OnBudget | undefined;
}

export interface ResolveTask extends Arrival {
  readonly request: ResolveRequest;
}

export interface UntangleTask extends Arrival {
  readonly request: UntangleRequest;
}

/** A session's scene with all that is needed to build it. */
export interface SceneState {
  /** identifies the scene in this process; each session has another one */
  readonly key: number;
  /** changes with the mesh: kinematic flags, masses */
  readonly meshVersion: number;
  readonly mesh: MeshInput;
  /** changes with every committed answer */
  readonly stateVersion: number;
  /** [3·V] the committed state, the caller's unit: the start of frame 0, then the last answer */
  readonly start: Positions;
  /** of frame 0, if the scene was open before; the scheduler fills them in */
  readonly measures?: MeshMeasures | undefined;
}

/** The versions that a thread holds of one scene; it reports them after every job. */
export interface HeldVersions {
  readonly meshVersion: number;
  readonly stateVersion: number;
  /** of frame 0; the main thread keeps them in case the thread loses the scene */
  readonly measures: MeshMeasures;
}

/** A scene's versions, with what the thread lacks of them. */
export interface SceneDelta extends Pick<SceneState, 'key' | 'meshVersion' | 'stateVersion' | 'measures'> {
  readonly mesh: MeshInput | undefined;
  readonly start: Positions | undefined;
  /** of a parked session; undefined = the thread holds the scene, or nothing was saved */
  readonly saved: SavedSession | undefined;
  /** whether the thread that held the scene died: the scene is rebuilt without having been parked */
  readonly wasLost: boolean;
}

/** Builds a scene and describes it. Mesh, start and parameters are checked as for a resolve. */
export interface OpenTask extends Arrival {
  readonly state: SceneState;
  readonly parameters: ParametersInput;
}

export interface OpenAnswer {
  readonly summary: MeshSummary;
  /** of frame 0, against which parameters are resolved as long as the session lives */
  readonly measures: MeshMeasures;
  readonly resolved: Parameters;
  readonly warnings: readonly Warning[];
  /** bytes that the scene holds in its thread, on the device and on the host */
  readonly residentBytes: number;
  /** absent in records of a version that did not store them */
  readonly thinElements?: ThinElements;
}

/** One step of a session. The session sends the complete scene state; the scheduler reduces it to a {@link SceneDelta}. */
export interface StepTask<State = SceneState> extends Arrival, TimeBudget {
  readonly state: State;
  /** the stateVersion of the answer, should the session commit it; used once */
  readonly nextVersion: number;
  /** [3·V] the caller's own start: checked before it is used; absent = the committed state */
  readonly start?: Positions;
  /** [3·V] may lie in shared memory that the next job overwrites: a job copies what it keeps */
  readonly target: Positions;
  /** the session's parameters with the step's override applied */
  readonly parameters: ParametersInput;
  readonly include?: IncludeInput;
}

/** `report.sessionRebuilt` says that the scene was lost (with a thread, a device or a step that was not accepted) and built again. */
export interface StepOutcome extends ResolveAnswer {
  readonly residentBytes: number;
}
