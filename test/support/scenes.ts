import type { ResolveRequest } from '../../src/contract/requests.js';
import { monotonicMs } from '../../src/jobs/clock.js';
import type { Finding } from '../../src/jobs/finding.js';
import type { JobContext } from '../../src/jobs/job-run.js';
import { openJob } from '../../src/jobs/open-job.js';
import { ResidentScenes } from '../../src/jobs/resident-scenes.js';
import type { SavedSession } from '../../src/jobs/saved-session.js';
import { stepJob } from '../../src/jobs/step-job.js';
import type { OpenAnswer, OpenTask, SceneState, StepOutcome, StepTask } from '../../src/jobs/tasks.js';
import { exactVerifier } from '../../src/jobs/verifier.js';
import type { MeshMeasures } from '../../src/mesh/types.js';
import type { Engine } from '../../src/solver/engine.js';
import { LIMITS } from './job.js';

/** A session as the session room would keep it: frame 0 at the start of the request, one key for each. */
let keys = 0;

export function sceneOf({ mesh, start }: Pick<ResolveRequest, 'mesh' | 'start'>, key = ++keys): SceneState {
  return { key, meshVersion: 0, mesh, stateVersion: 0, start };
}

export function openTask(state: SceneState, parameters: OpenTask['parameters'] = {}): OpenTask {
  const now = monotonicMs();
  return { state, parameters, receivedAt: now, queuedAt: now };
}

export function stepTask(state: SceneState, target: StepTask['target'], more: Partial<StepTask> = {}): StepTask {
  const now = monotonicMs();
  return {
    state,
    nextVersion: state.stateVersion + 1,
    target,
    parameters: {},
    receivedAt: now,
    queuedAt: now,
    ...more,
  };
}

/** The state after the session has committed an answer. */
export function committed(state: SceneState, task: StepTask, positions: SceneState['start']): SceneState {
  return { ...state, stateVersion: task.nextVersion, start: positions };
}

/** One session whose jobs run in this thread, with the bookkeeping of session room and lane in their simplest form. */
export class DirectSession {
  readonly scenes = new ResidentScenes();
  readonly findings: Finding[] = [];
  state: SceneState;
  isCancelled = false;
  /** states of a step after which its caller goes away */
  cancelsAfter = Number.POSITIVE_INFINITY;
  /** of the last {@link park} */
  saved: SavedSession | undefined;
  private measures: MeshMeasures | undefined;

  constructor(
    request: Pick<ResolveRequest, 'mesh' | 'start'>,
    private readonly engine: Engine,
    private readonly overrides: Partial<JobContext> = {},
  ) {
    this.state = sceneOf(request);
  }

  async open(parameters: OpenTask['parameters'] = {}): Promise<OpenAnswer> {
    return openJob(openTask(this.state, parameters), this.scenes, this.context());
  }

  /** A step whose answer the session commits, unless told not to. */
  async step(
    target: StepTask['target'],
    more: Partial<StepTask> = {},
    { isCommitted = true } = {},
  ): Promise<StepOutcome> {
    const { state } = this;
    const held = this.scenes.heldOf(state.key);
    const task = { ...stepTask(state, target, more), nextVersion: ++versions };
    const answer = await stepJob(
      {
        ...task,
        state: {
          ...state,
          mesh: held?.meshVersion === state.meshVersion ? undefined : state.mesh,
          start: held?.stateVersion === state.stateVersion ? undefined : state.start,
          measures: held?.measures ?? this.measures,
          saved: held ? undefined : this.saved,
          wasLost: false,
        },
      },
      this.scenes,
      this.context(),
    );
    if (isCommitted) this.state = committed(state, task, answer.positions);
    return answer;
  }

  /** Frees the scene; what it saves crosses to another thread and back, as in the service. */
  async park(): Promise<void> {
    this.measures = this.scenes.heldOf(this.state.key)?.measures;
    this.saved = structuredClone(await this.scenes.readLast(this.state.key)) ?? undefined;
    this.scenes.drop(this.state.key);
  }

  /** Another session, which continues from a copy of what this one has after an accepted step. */
  async copy(): Promise<DirectSession> {
    const { state } = this;
    const copy = new DirectSession(state, this.engine, this.overrides);
    const scene = this.scenes.find(state.key);
    copy.state = state;
    copy.measures = scene?.measures;
    copy.saved = structuredClone(await scene?.copy());
    return copy;
  }

  private context(): JobContext {
    let states = 0;
    return {
      engine: this.engine,
      limits: LIMITS,
      allowUnverified: true,
      verifier: exactVerifier,
      now: monotonicMs,
      isCancelled: () => this.isCancelled || states > this.cancelsAfter,
      onState: Number.isFinite(this.cancelsAfter) ? () => void states++ : undefined,
      onFinding: (finding) => this.findings.push(finding),
      ...this.overrides,
    };
  }
}

/** versions are never used twice */
let versions = 0;
