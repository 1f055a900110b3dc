import { IntersticeError } from '../contract/errors.js';
import type { MeshInput } from '../contract/mesh.js';
import type { CheckAnswer, MeshCheckRequest, ResolveAnswer } from '../contract/requests.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { OpenAnswer, OpenTask, ResolveTask, StepOutcome, StepTask } from '../jobs/tasks.js';
import { bytesOf } from '../mesh/bytes.js';
import type { Claim, ScheduleHooks } from './claim.js';
import { Dispatcher, type JobPreflight, type SchedulerOptions } from './dispatcher.js';
import type { Jobs } from './messages.js';
import type { SceneRecord } from './scene-ledger.js';

export { HEAVY_ELEMENTS, type JobPreflight, type SchedulerOptions } from './dispatcher.js';

/**
 * Everything that computes goes through here: jobs wait in a fair, bounded queue for a lane, which is a thread with an engine
 * of its own. Scenes of sessions stay in the thread that built them. A thread that dies fails the job it was doing and
 * no other: its scenes are built again by the one that replaces it.
 */
export class Scheduler {
  private readonly dispatcher: Dispatcher;

  constructor(options: SchedulerOptions) {
    this.dispatcher = new Dispatcher(options);
  }

  get waitingCount(): number {
    return this.dispatcher.waitingCount;
  }

  /** Bytes of the arrays of waiting jobs. */
  get waitingBytes(): number {
    return this.dispatcher.waitingBytes;
  }

  get runningCount(): number {
    return this.dispatcher.runningCount;
  }

  /** As {@link Dispatcher.sharedBytes}. */
  get sharedBytes(): number {
    return this.dispatcher.sharedBytes;
  }

  /** Scenes that are remembered: resident, parked, or with work waiting. */
  get sceneCount(): number {
    return this.dispatcher.ledger.size;
  }

  /**
   * Starts a first thread, if there is none, and waits until it has opened its engine.
   *
   * @throws what the engine's factory refuses with; INTERNAL when the thread dies; DRAINING once closed
   */
  hello(): Promise<EngineDescription> {
    return this.dispatcher.hello();
  }

  /** @throws what {@link Dispatcher.preflight} refuses with */
  preflight(preflight: JobPreflight): void {
    this.dispatcher.preflight(preflight);
  }

  /**
   * @throws QUEUE_FULL with the seconds after which a place should be free; DRAINING once closed; CANCELLED,
   * DEADLINE_EXCEEDED (while waiting); INTERNAL when the thread dies; and whatever the job itself refuses
   */
  async resolve(task: ResolveTask, hooks: ScheduleHooks): Promise<ResolveAnswer> {
    const group = this.dispatcher.groupFor(task.request.mesh);
    return this.dispatcher.submit('resolve', () => task, group, weighed(hooks, task.request));
  }

  /** @throws as {@link resolve} */
  async check(request: MeshCheckRequest, hooks: ScheduleHooks): Promise<CheckAnswer> {
    return this.dispatcher.submit(
      'check',
      () => request,
      this.dispatcher.groupFor(request.mesh),
      weighed(hooks, request),
    );
  }

  /**
   * Builds a scene on the lane that becomes its home. A key that was opened before is built anew, with the measures of its
   * frame 0.
   *
   * @throws as {@link resolve}; the key is then unknown, or as it was
   */
  async open(task: OpenTask, hooks: ScheduleHooks): Promise<OpenAnswer> {
    return this.submitForScene('open', task.state.key, task.state.mesh, weighed(hooks, task.state), (record) => ({
      ...task,
      state: { ...task.state, measures: record.measures },
    }));
  }

  /**
   * One step on the scene's home lane. Whatever the worker lacks of the scene is sent along and built first.
   *
   * @throws as {@link resolve}; nothing has changed then
   */
  async step(task: StepTask, hooks: ScheduleHooks): Promise<StepOutcome> {
    // Mesh and state are the session's, whether the step waits or not.
    const own = weighed(hooks, { target: task.target, start: task.start });
    return this.submitForScene('step', task.state.key, task.state.mesh, own, (record) => ({
      ...task,
      state: this.dispatcher.ledger.deltaOf(record, task.state),
    }));
  }

  /**
   * Frees what the worker holds, after the jobs of the scene that wait already; the next step builds it again. Resolves when
   * it is freed, be it that the worker has died or that everything was closed meanwhile.
   */
  async park(key: number): Promise<void> {
    const record = this.dispatcher.ledger.find(key);
    if (!record || this.dispatcher.isClosed) return;
    record.isLost = false;
    // Without a home nothing is held, and nothing is on its way that would be.
    if (!record.home) return;
    try {
      await this.dispatcher.submitPark(record, record.home);
    } catch (thrown) {
      // A thread that ended has freed the scene as well: that is no failure of this call.
      if (!(thrown instanceof IntersticeError)) throw thrown;
    }
  }

  /** Parks a scene for good: for a deleted session, whose key is never used again. */
  async forget(key: number): Promise<void> {
    await this.park(key);
    const record = this.dispatcher.ledger.find(key);
    if (record) this.dispatcher.ledger.forget(record);
  }

  /** Refuses what waits and what comes, stops what runs (DRAINING), ends all threads. Drain before it, not by it. */
  close(): Promise<void> {
    return this.dispatcher.close();
  }

  private submitForScene<K extends 'open' | 'step'>(
    kind: K,
    key: number,
    mesh: MeshInput,
    hooks: ScheduleHooks,
    makeInput: (record: SceneRecord) => Jobs[K]['input'],
  ): Promise<Jobs[K]['answer']> {
    this.dispatcher.refuseIfClosed();
    const group = this.dispatcher.groupFor(mesh);
    const claim: Claim = { ...hooks.claim, session: key };
    const record = this.dispatcher.ledger.settle(key, claim.tenant, group.lanes);
    return this.dispatcher.submit(kind, () => makeInput(record), group, { ...hooks, claim }, record);
  }
}

function weighed(hooks: ScheduleHooks, request: object): ScheduleHooks {
  return { ...hooks, waitingBytes: hooks.waitingBytes ?? bytesOf(request) };
}
