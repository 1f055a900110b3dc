import type { DiagnoseRequest, Diagnosis } from '../contract/diagnosis.js';
import { cancelled, draining, IntersticeError } from '../contract/errors.js';
import type { MeshInput } from '../contract/mesh.js';
import type { CheckAnswer, MeshCheckRequest, ResolveAnswer } from '../contract/requests.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { monotonicMs } from '../jobs/clock.js';
import type { SavedSession } from '../jobs/saved-session.js';
import type { OpenAnswer, OpenTask, ResolveTask, StepOutcome, StepTask, UntangleTask } from '../jobs/tasks.js';
import { bytesOf } from '../mesh/bytes.js';
import type { ConvoyCounts } from '../solver/engine.js';
import { Admission } from './admission.js';
import type { Claim } from './fair-queue.js';
import { countFreePlaces } from './free-places.js';
import { type JobHooks, type JobOwner, type JobRequest, LaneJob } from './lane-job.js';
import { type Lane, type LaneGroup, LanePool, type LanePoolOptions } from './lane-pool.js';
import type { JobTypes } from './messages.js';
import { type AdoptedScene, SceneLedger, type SceneRecord } from './scene-ledger.js';
import { countBytes, type JobPreflight, type Placement, type ScheduleHooks, sizeOf } from './submission.js';

export type { JobPreflight, ScheduleHooks } from './submission.js';

export interface SchedulerOptions extends LanePoolOptions {
  /** number of jobs that may wait; a further job is refused with QUEUE_FULL */
  readonly maxQueue: number;
  /** bytes of the arrays of waiting jobs; more are refused with QUEUE_FULL. Default 0 = no limit */
  readonly maxQueueBytes?: number | undefined;
  /** called when a thread died, with or without a job; another thread is started when there is work */
  readonly onWorkerLost?: ((reason: IntersticeError) => void) | undefined;
}

/**
 * All computing goes through the scheduler: jobs wait in a fair, bounded queue for a lane, which is a thread with
 * its own engine. Scenes of sessions stay on the lane that built them. When a thread dies, only the job that it was running
 * fails; the thread that replaces it rebuilds the scenes.
 *
 *   request ──► QueueBound ──► FairQueue (ordinary) ──► lane ┐
 *                  │                                   lane ├─► answer, versions held ──► SceneLedger
 *                  │           FairQueue (heavy) ────► lane ┘
 *                  └─► QUEUE_FULL
 */
export class Scheduler {
  private readonly pool: LanePool;
  private readonly ledger = new SceneLedger();
  private readonly admission: Admission;
  private readonly placements = new Map<LaneJob, Placement>();
  private isClosed = false;
  /** set when no further job may start; running jobs end soon */
  private isEnding = false;

  constructor(options: SchedulerOptions) {
    const onWorkerLost = (lane: Lane, reason: IntersticeError) => {
      this.ledger.loseLane(lane);
      if (!this.isClosed) options.onWorkerLost?.(reason);
      for (const job of [...lane.jobs.keys()]) {
        // Also if its answer had arrived: its caller, who was still reading states, does not get it.
        job.held = undefined;
        job.hasBuilt = false;
        this.finish(lane, job);
      }
    };
    this.pool = new LanePool(options, onWorkerLost, (lane) => this.dispatch(this.pool.groupOf(lane)));
    this.admission = new Admission(this.pool, options.maxQueue, options.maxQueueBytes);
  }

  get waitingCount(): number {
    return this.pool.waitingCount;
  }

  /** Bytes of the arrays of waiting jobs. */
  get waitingBytes(): number {
    return this.admission.waitingBytes;
  }

  get runningCount(): number {
    return this.pool.runningCount;
  }

  /** Like {@link LanePool.sharedBytes}. */
  get sharedBytes(): number {
    return this.pool.sharedBytes;
  }

  /** Like {@link LanePool.workBytes}. */
  get workBytes(): number {
    return this.pool.workBytes;
  }

  /** Like {@link LanePool.scenesTogether}. */
  get scenesTogether(): number {
    return this.pool.scenesTogether;
  }

  /** Like {@link LanePool.convoy}. */
  get convoy(): ConvoyCounts {
    return this.pool.convoy;
  }

  /** Like {@link LanePool.deviceBytes}. */
  get deviceBytes(): number {
    return this.pool.deviceBytes;
  }

  /** Number of scenes with a record: resident, parked, or with jobs pending. */
  get sceneCount(): number {
    return this.ledger.size;
  }

  /**
   * Starts a first thread, if there is none, and waits until it has opened its engine.
   *
   * @throws the refusal of the engine's factory; INTERNAL if the thread dies; DRAINING once closed
   */
  async hello(): Promise<EngineDescription> {
    this.refuseIfClosed();
    const worker = this.pool.workerOf(this.pool.ordinary.lanes[0]!);
    worker.hold();
    try {
      const description = await worker.hello;
      this.pool.adapt(worker);
      return description;
    } finally {
      worker.release();
    }
  }

  /**
   * Refuses a job before its request is complete, if it would be refused now. This reserves no place: a job that passes
   * is admitted or refused when its request is complete.
   *
   * @throws QUEUE_FULL, DRAINING
   */
  preflight(known: JobPreflight): void {
    this.refuseIfClosed();
    const record = known.session === undefined ? undefined : this.ledger.find(known.session);
    this.admission.preflight(known, countFreePlaces(this.pool, record, known));
  }

  /**
   * @throws QUEUE_FULL with the seconds after which a place should be free; DRAINING once closed; CANCELLED,
   * DEADLINE_EXCEEDED (while waiting); INTERNAL if the thread dies; and the refusals of the job itself
   */
  async resolve(task: ResolveTask, hooks: ScheduleHooks): Promise<ResolveAnswer> {
    const { request } = task;
    return this.submitAlone('resolve', () => task, request, hooks);
  }

  /** @throws like {@link resolve} */
  async check(request: MeshCheckRequest, hooks: ScheduleHooks): Promise<CheckAnswer> {
    return this.submitAlone('check', () => request, request, hooks);
  }

  /** @throws like {@link resolve} */
  async diagnose(request: DiagnoseRequest, hooks: ScheduleHooks): Promise<Diagnosis> {
    return this.submitAlone('diagnose', () => request, request, hooks);
  }

  /** @throws like {@link resolve} */
  async untangle(task: UntangleTask, hooks: ScheduleHooks): Promise<UntangledState> {
    return this.submitAlone('untangle', () => task, task.request, hooks);
  }

  /**
   * Builds a scene on the lane that becomes its home. A key that was opened before is rebuilt, with the coordinate frame of its
   * frame 0.
   *
   * @throws like {@link resolve}; the record of the key is then unchanged
   */
  async open(task: OpenTask, hooks: ScheduleHooks): Promise<OpenAnswer> {
    const { state } = task;
    return this.submitForScene('open', state.key, state.mesh, countBytes(hooks, state), (record) => ({
      ...task,
      state: { ...state, measures: record.measures },
    }));
  }

  /**
   * One step on the scene's home lane. Whatever the thread lacks of the scene is sent and built first.
   *
   * @throws like {@link resolve}; nothing has changed then
   */
  async step(task: StepTask, hooks: ScheduleHooks): Promise<StepOutcome> {
    const { state, target, start } = task;
    // The session keeps mesh and state whether the step waits or not.
    return this.submitForScene('step', state.key, state.mesh, countBytes(hooks, { target, start }), (record) => ({
      ...task,
      state: this.ledger.deltaOf(record, state),
    }));
  }

  /**
   * Frees what the thread holds of a scene, after the scene's jobs that already wait; the next step rebuilds it and
   * continues from what the thread has saved. Resolves when the scene is freed, even if its thread died or the
   * scheduler was closed meanwhile.
   *
   * @returns bytes that this thread keeps of it until a thread holds it again
   */
  async park(key: number): Promise<number> {
    const record = this.ledger.find(key);
    await this.askHome('park', { key, isForGood: false });
    return bytesOf(record?.saved);
  }

  /** @returns a copy of what {@link park} would save, while the scene stays; undefined = nothing is known of it */
  async save(key: number): Promise<SavedSession | undefined> {
    return (await this.askHome('save', { key })) ?? this.ledger.find(key)?.saved;
  }

  /**
   * Adds a scene that another process held: its first step continues from the data saved there.
   *
   * @param key of no scene that is known here: new, or forgotten
   * @param owner its tenant, and the priority of its opening
   */
  adopt(key: number, { tenant, priority }: Pick<Claim, 'tenant' | 'priority'>, scene: AdoptedScene): void {
    this.ledger.adopt(key, tenant, this.pool.groupForScene(scene.mesh, priority).lanes, scene);
  }

  /** Drops the saved data of a parked scene: its next step searches anew, and its report says so. */
  dropSaved(key: number): void {
    this.ledger.dropSaved(key);
  }

  /** Drops a scene without saving it, for a session that has left this process or is built anew. */
  async forget(key: number): Promise<void> {
    await this.askHome('park', { key, isForGood: true });
    const record = this.ledger.find(key);
    if (record) this.ledger.forget(record);
  }

  /**
   * Refuses waiting and new jobs (DRAINING), and asks running resolves and steps for the safe states that they have
   * reached. Those that may not return such a state (FAIL) and all checks end with DRAINING.
   */
  wrapUp(): void {
    this.isEnding = true;
    for (const { queue } of this.pool.groups) for (const job of [...queue.waitingItems()]) job.wrapUp();
    for (const { jobs } of this.pool.lanes) for (const job of jobs.keys()) job.wrapUp();
  }

  /** Refuses waiting and new jobs, stops running ones (DRAINING), and ends all threads. To drain, wait before closing. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const { queue } of this.pool.groups) for (const job of [...queue.waitingItems()]) job.stop(draining());
    for (const { jobs } of this.pool.lanes) for (const job of [...jobs.keys()]) job.stop(draining());
    await this.pool.terminate();
  }

  /** A scene without a home is held nowhere, and no pending job would build it. @returns null = nothing was held */
  private async askHome<K extends 'park' | 'save'>(kind: K, input: JobTypes[K]['input']): Promise<SavedSession | null> {
    const { key } = input;
    const record = this.ledger.find(key);
    if (!record?.home || this.isClosed) return null;
    record.pending++;
    const claim: Claim = { tenant: record.tenant, session: key, priority: 'INTERACTIVE' };
    const size = sizeOf(kind, record.vertices, {});
    const placement = { group: this.pool.groupOf(record.home), claim, record, isCounted: false, bytes: 0, size };
    try {
      return (await this.enqueue({ kind, makeInput: () => input }, {}, placement)) as SavedSession | null;
    } catch (thrown) {
      // A thread that ended has freed the scene as well, so this is not a failure.
      if (!(thrown instanceof IntersticeError)) throw thrown;
      return null;
    }
  }

  /** A job that belongs to no scene. */
  private submitAlone<K extends 'resolve' | 'check' | 'diagnose' | 'untangle'>(
    kind: K,
    makeInput: () => JobTypes[K]['input'],
    request: { readonly mesh: MeshInput },
    hooks: ScheduleHooks,
  ): Promise<JobTypes[K]['answer']> {
    const group = this.pool.groupFor(request.mesh, hooks.claim.priority);
    return this.submit(kind, makeInput, { group, mesh: request.mesh }, countBytes(hooks, request));
  }

  private submitForScene<K extends 'open' | 'step'>(
    kind: K,
    key: number,
    mesh: MeshInput,
    hooks: ScheduleHooks,
    makeInput: (record: SceneRecord) => JobTypes[K]['input'],
  ): Promise<JobTypes[K]['answer']> {
    this.refuseIfClosed();
    const claim: Claim = { ...hooks.claim, session: key };
    const { lanes } = this.pool.groupForScene(mesh, claim.priority);
    const record = this.ledger.settle(key, claim.tenant, lanes, mesh.vertexCount);
    const group = this.pool.groupOf(record.home!);
    return this.submit(kind, () => makeInput(record), { group, mesh, record }, { ...hooks, claim });
  }

  private async submit<K extends keyof JobTypes>(
    kind: K,
    makeInput: () => JobTypes[K]['input'],
    of: Pick<Placement, 'group'> & { readonly mesh: MeshInput; readonly record?: SceneRecord },
    hooks: ScheduleHooks,
  ): Promise<JobTypes[K]['answer']> {
    const { claim, waitingBytes: bytes = 0 } = hooks;
    const { group, mesh, record } = of;
    const size = sizeOf(kind, mesh.vertexCount, hooks);
    const placement: Placement = { group, claim, record, isCounted: true, bytes, size };
    try {
      this.refuseIfClosed();
      if (hooks.signal?.aborted) throw cancelled();
    } catch (thrown) {
      if (record) this.ledger.cancel(record);
      throw thrown;
    }
    return this.enqueue({ kind, makeInput }, hooks, placement) as Promise<JobTypes[K]['answer']>;
  }

  private enqueue(
    request: JobRequest,
    hooks: JobHooks & Pick<ScheduleHooks, 'onQueued' | 'hasPlace'>,
    placement: Placement,
  ): LaneJob['answer'] {
    const job = new LaneJob(request, hooks, this.owner);
    const { queue } = placement.group;
    this.placements.set(job, placement);
    queue.add(job, placement.claim);
    hooks.onQueued?.(() => queue.countBefore(job));
    this.dispatch(placement.group);
    if (job.isStarted) this.admission.pass(placement);
    // A hook of a job that has just started may have ended this one.
    else if (this.placements.has(job)) this.admitOrStop(job, placement, hooks);
    return job.answer;
  }

  private admitOrStop(job: LaneJob, placement: Placement, { hasPlace }: Pick<ScheduleHooks, 'hasPlace'>): void {
    try {
      this.admission.admit(placement, hasPlace);
    } catch (thrown) {
      job.stop(IntersticeError.from(thrown));
    }
  }

  private readonly owner: JobOwner = {
    withdraw: (job) => {
      const placement = this.placements.get(job);
      if (!placement?.group.queue.remove(job)) return;
      this.placements.delete(job);
      this.admission.leave(placement);
      if (placement.record) this.ledger.cancel(placement.record);
      // Jobs that waited because this one needed the lane for itself may start now.
      if (!this.isEnding) this.dispatch(placement.group);
    },
    complete: (job) => {
      const lane = this.pool.lanes.find(({ jobs }) => jobs.has(job));
      if (!lane) return;
      lane.worker?.finish(job);
      this.finish(lane, job);
    },
  };

  /** Starts waiting jobs on free lanes. Lanes with a thread come first, so that threads start only when they are needed. */
  private dispatch({ lanes, queue }: LaneGroup): void {
    if (this.isClosed) return;
    for (const isStarted of [true, false]) {
      for (const lane of lanes) {
        if ((lane.worker !== undefined) !== isStarted) continue;
        while (lane.hasRoom) {
          const job = queue.take(
            (waiting) => {
              const { record } = this.placements.get(waiting)!;
              return !record || record.home === lane;
            },
            (waiting) => lane.takes(this.placements.get(waiting)!.size),
          );
          if (!job) break;
          this.start(lane, job);
        }
      }
    }
  }

  private start(lane: Lane, job: LaneJob): void {
    const placement = this.placements.get(job)!;
    this.admission.leave(placement);
    lane.jobs.set(job, placement.size);
    lane.time.begin(job, monotonicMs());
    // The thread holds the same versions as before unless it reports others.
    job.held = placement.record?.held;
    try {
      this.pool.workerOf(lane).start(job.begin(), job);
    } catch (thrown) {
      // There is no thread, or the request could not be copied: out of memory, or not plain data.
      job.lose(IntersticeError.from(thrown));
      lane.worker?.finish(job);
      this.finish(lane, job);
    }
  }

  private finish(lane: Lane, job: LaneJob): void {
    lane.jobs.delete(job);
    const { group, record } = this.placements.get(job)!;
    this.placements.delete(job);
    const charge = lane.time.end(job, monotonicMs());
    this.admission.note(charge);
    group.queue.finish(job, charge);
    if (record) {
      if (job.hasBuilt) record.isLost = false;
      this.ledger.finish(record, job.held, job.saved);
    }
    this.dispatch(group);
  }

  private refuseIfClosed(): void {
    if (this.isClosed || this.isEnding) throw draining();
  }
}
