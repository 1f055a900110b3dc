import { availableParallelism } from 'node:os';
import type { ResourceLimits } from 'node:worker_threads';
import { IntersticeError } from '../contract/errors.js';
import type { MeshInput } from '../contract/mesh.js';
import type { EngineDescription } from '../contract/server-info.js';
import { monotonicMs } from '../jobs/clock.js';
import type { Claim, ScheduleHooks } from './claim.js';
import { FairQueue } from './fair-queue.js';
import { Lane } from './lane.js';
import type { Jobs, WorkerSetup } from './messages.js';
import { type JobHooks, type JobOwner, type JobRequest, PoolJob } from './pool-job.js';
import { PoolWorker } from './pool-worker.js';
import { type Ahead, explainBytes, QueueBound } from './queue-bound.js';
import { SceneLedger, type SceneRecord } from './scene-ledger.js';

export interface SchedulerOptions extends Omit<WorkerSetup, 'givesWay'> {
  /** threads for ordinary work at most, started as they are needed; default: one a core */
  readonly threads?: number | undefined;
  /** jobs that may wait; one more is refused with QUEUE_FULL */
  readonly maxQueue: number;
  /** bytes of the arrays of jobs that may wait; one more is refused with QUEUE_FULL. Default 0 = no limit */
  readonly maxQueueBytes?: number | undefined;
  /** elements; a mesh with more is worked on in the heavy lanes. Default {@link HEAVY_ELEMENTS} */
  readonly heavyElements?: number | undefined;
  /**
   * V8's limits of each thread (default: V8's own). They bound the heap of objects only: positions, pairs and trees live
   * in array buffers outside of it, and are bounded by the limits on meshes instead.
   */
  readonly resourceLimits?: ResourceLimits | undefined;
  /** a thread died, with or without a job; another is started when there is work */
  readonly onWorkerLost?: ((reason: IntersticeError) => void) | undefined;
}

/**
 * Elements (as sent: triangles, segments, particles, tetrahedra) beyond which a job may hold a thread for seconds, with any
 * engine: such jobs get threads of their own, and the operating system shares the cores between the two kinds. So one
 * resolve of a million triangles slows small sessions by its share of the machine, and never makes them wait for its end.
 */
export const HEAVY_ELEMENTS = 200_000;

/** Lanes of one kind with the jobs that wait for them. */
export interface Group {
  readonly lanes: readonly Lane[];
  readonly queue: FairQueue<PoolJob>;
}

/** What is known of work before it has come. */
export interface JobPreflight {
  readonly tenant: string;
  /** the scene key of the session that it is about, where that is known */
  readonly session?: number | undefined;
  /** the session's mesh, where that is known */
  readonly mesh?: MeshInput | undefined;
  /** of the request, where its head says so */
  readonly bytes?: number | undefined;
  /** a step: about a scene that exists already, known or not */
  readonly isForScene: boolean;
  /** others that were let through a moment ago, and have not come yet */
  readonly ahead: Ahead;
}

/** Where a job belongs. */
interface Place {
  readonly group: Group;
  readonly claim: Claim;
  /** of the scene that it is about; it runs on the scene's home lane only */
  readonly record: SceneRecord | undefined;
  /** takes a place in the bounded queue */
  readonly isCounted: boolean;
  /** that it keeps in memory while it waits */
  readonly bytes: number;
}

/** Gets jobs from the bounded queue onto lanes, and their ends back to the queue, the ledger of scenes and the caller. */
export class Dispatcher {
  readonly ledger = new SceneLedger();
  private readonly options: SchedulerOptions;
  private readonly threads: number;
  private readonly ordinary: Group;
  private readonly heavy: Group;
  private readonly bound: QueueBound;
  private readonly places = new Map<PoolJob, Place>();
  private hasClosed = false;
  /** running mean of how long jobs took, for Retry-After */
  private meanJobMs = FIRST_GUESS_MS;

  constructor(options: SchedulerOptions) {
    this.options = options;
    this.threads = options.threads ?? availableParallelism();
    if (!Number.isInteger(this.threads) || this.threads < 1) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `threads is ${this.threads}; it must be a whole number, at least 1`,
      );
    }
    this.ordinary = groupOf(this.threads);
    // Half as many: heavy jobs use memory rather than cores to be quick, and one at a time must always be possible.
    this.heavy = groupOf(Math.max(1, Math.floor(this.threads / 2)));
    this.bound = new QueueBound(options.maxQueue, options.maxQueueBytes);
  }

  get waitingCount(): number {
    return this.ordinary.queue.size + this.heavy.queue.size;
  }

  /** of the arrays of waiting jobs */
  get waitingBytes(): number {
    return this.bound.bytes;
  }

  get runningCount(): number {
    return this.lanes.filter((lane) => lane.job).length;
  }

  /** bytes that lanes keep for whatever job is next: bounded by the largest scene on each, freed with the last one */
  get sharedBytes(): number {
    return this.lanes.reduce((sum, { worker }) => sum + (worker?.sharedBytes ?? 0), 0);
  }

  get isClosed(): boolean {
    return this.hasClosed;
  }

  /** @throws what the engine's factory refuses with; INTERNAL when the thread dies; DRAINING once closed */
  async hello(): Promise<EngineDescription> {
    this.refuseIfClosed();
    const worker = this.workerOf(this.ordinary.lanes[0]!);
    worker.hold();
    try {
      return await worker.hello;
    } finally {
      worker.release();
    }
  }

  groupFor(mesh: MeshInput): Group {
    return countElements(mesh) > this.heavyElements ? this.heavy : this.ordinary;
  }

  private get heavyElements(): number {
    return this.options.heavyElements ?? HEAVY_ELEMENTS;
  }

  /**
   * Queues a job.
   *
   * @param record of the scene that it is about, settled in the ledger
   * @throws QUEUE_FULL, DRAINING, CANCELLED, and what the job ends with
   */
  async submit<K extends keyof Jobs>(
    kind: K,
    makeInput: () => Jobs[K]['input'],
    group: Group,
    hooks: ScheduleHooks,
    record?: SceneRecord,
  ): Promise<Jobs[K]['answer']> {
    const { claim, waitingBytes: bytes = 0 } = hooks;
    const place: Place = { group, claim, record, isCounted: true, bytes };
    try {
      this.refuseIfClosed();
      if (hooks.signal?.aborted) throw new IntersticeError('CANCELLED', 'the caller went away');
      if (hooks.hasPlace) this.bound.enterAnyway(claim.tenant, bytes);
      else this.admit(place);
    } catch (thrown) {
      if (record) this.ledger.cancel(record);
      throw thrown;
    }
    const answer = this.enqueue({ kind, makeInput }, hooks, place);
    return answer as Promise<Jobs[K]['answer']>;
  }

  /** Frees what a scene's worker holds, after the scene's jobs that wait already; takes no place in the bounded queue. */
  async submitPark(record: SceneRecord, home: Lane): Promise<void> {
    const { key, tenant } = record;
    const group = this.heavy.lanes.includes(home) ? this.heavy : this.ordinary;
    record.pending++;
    const claim: Claim = { tenant, session: key, priority: 'INTERACTIVE' };
    await this.enqueue(
      { kind: 'park', makeInput: () => ({ key }) },
      {},
      {
        group,
        claim,
        record,
        isCounted: false,
        bytes: 0,
      },
    );
  }

  async close(): Promise<void> {
    this.hasClosed = true;
    const reason = () => new IntersticeError('DRAINING', 'this server is shutting down');
    for (const { queue } of this.groups) for (const job of [...queue.waitingItems()]) job.stop(reason());
    for (const { job } of this.lanes) job?.stop(reason());
    await Promise.all(this.lanes.map((lane) => lane.worker?.terminate()));
  }

  /**
   * Says no to work of which little is known yet, where it would be refused if it came now. Takes no place: what is let
   * through here is admitted, or refused, when it is whole.
   *
   * @throws QUEUE_FULL, DRAINING
   */
  preflight({ tenant, session, mesh, bytes, isForScene, ahead }: JobPreflight): void {
    this.refuseIfClosed();
    const claim: Claim = { tenant, priority: 'NORMAL', ...(session === undefined ? {} : { session }) };
    const home = session === undefined ? undefined : this.ledger.find(session)?.home;
    const isFree = (lane: Lane) => !lane.job && (!home || home === lane);
    const groups = mesh ? [this.groupFor(mesh)] : this.groupsFor(bytes, isForScene);
    const fit = groups.filter(({ queue }) => !queue.isHeldUp(claim)).flatMap(({ lanes }) => lanes.filter(isFree));
    // Those ahead take the free lanes first.
    if (ahead.count < fit.length) return;
    const count = ahead.count - fit.length;
    // Which of them they are is not known: each is taken to be of the mean size.
    const share = ahead.count > 0 ? count / ahead.count : 0;
    this.refuseUnlessIn(this.bound.preflight(tenant, bytes, { count, bytes: share * ahead.bytes }), bytes);
  }

  /** Where work may belong whose mesh is not known yet. */
  private groupsFor(bytes: number | undefined, isForScene: boolean): readonly Group[] {
    // An element takes a byte at least in every format. A scene is heavy only if a heavy lane has been started for it.
    const isOrdinary = isForScene
      ? this.heavy.lanes.every(({ worker }) => !worker)
      : bytes !== undefined && bytes <= this.heavyElements;
    return isOrdinary ? [this.ordinary] : this.groups;
  }

  /** @throws QUEUE_FULL */
  private admit({ group, claim, record, bytes }: Place): void {
    const isFree = (lane: Lane) => !lane.job && (!record || record.home === lane);
    if (!group.queue.isHeldUp(claim) && group.lanes.some(isFree)) this.bound.enterAnyway(claim.tenant, bytes);
    else this.refuseUnlessIn(this.bound.enter(claim.tenant, bytes), bytes);
  }

  private refuseUnlessIn(verdict: ReturnType<QueueBound['enter']>, bytes = 0): void {
    if (verdict === 'IN') return;
    const waiting = this.waitingCount;
    throw new IntersticeError(
      'QUEUE_FULL',
      verdict === 'FULL'
        ? `${waiting} requests are waiting already`
        : verdict === 'FULL_OF_BYTES'
          ? explainBytes(this.bound, bytes, this.bound.mostBytes)
          : `${waiting} requests are waiting, and half of the queue, the share of one tenant among several, is used by yours`,
      { retryAfterSeconds: this.retryAfterSeconds() },
    );
  }

  private enqueue(request: JobRequest, hooks: JobHooks, place: Place): PoolJob['answer'] {
    const job = new PoolJob(request, hooks, this.owner);
    this.places.set(job, place);
    place.group.queue.add(job, place.claim);
    this.dispatch(place.group);
    return job.answer;
  }

  private readonly owner: JobOwner = {
    withdraw: (job) => {
      const place = this.places.get(job);
      if (!place?.group.queue.remove(job)) return;
      this.places.delete(job);
      if (place.isCounted) this.bound.leave(place.claim.tenant, place.bytes);
      if (place.record) this.ledger.cancel(place.record);
    },
    complete: (job) => {
      const lane = this.lanes.find((one) => one.job === job);
      if (!lane) return;
      lane.worker?.finish();
      this.finish(lane, job);
    },
  };

  private finish(lane: Lane, job: PoolJob): void {
    lane.job = undefined;
    const place = this.places.get(job)!;
    this.places.delete(job);
    const took = monotonicMs() - job.startedAt;
    this.meanJobMs += (took - this.meanJobMs) * MEAN_WEIGHT;
    place.group.queue.finish(job, took);
    if (place.record) {
      if (job.isDone) place.record.isLost = false;
      this.ledger.finish(place.record, job.held);
    }
    this.dispatch(place.group);
  }

  /** Started lanes come first, so that a thread is only started for what no other can do now. */
  private dispatch({ lanes, queue }: Group): void {
    if (this.hasClosed) return;
    for (const isStarted of [true, false]) {
      for (const lane of lanes) {
        if (queue.size === 0) return;
        if (lane.job || (lane.worker !== undefined) !== isStarted) continue;
        const job = queue.take((waiting) => {
          const { record } = this.places.get(waiting)!;
          return !record || record.home === lane;
        });
        if (job) this.start(lane, job);
      }
    }
  }

  private start(lane: Lane, job: PoolJob): void {
    const { claim, record, isCounted, bytes } = this.places.get(job)!;
    if (isCounted) this.bound.leave(claim.tenant, bytes);
    lane.job = job;
    // What the worker holds stays as it is unless it says otherwise.
    job.held = record?.held;
    const worker = this.workerOf(lane);
    try {
      worker.start(job.begin(), job);
    } catch (thrown) {
      // The request could not be copied (out of memory, or something that is no plain data).
      job.lose(IntersticeError.from(thrown));
      worker.finish();
      this.finish(lane, job);
    }
  }

  private workerOf(lane: Lane): PoolWorker {
    if (lane.worker) return lane.worker;
    const { engine, limits, allowUnverified, resourceLimits = {} } = this.options;
    const givesWay = this.heavy.lanes.includes(lane);
    lane.worker = new PoolWorker({ engine, limits, allowUnverified, givesWay }, resourceLimits, (reason) => {
      lane.worker = undefined;
      this.ledger.loseLane(lane);
      const { job } = lane;
      if (!this.hasClosed) this.options.onWorkerLost?.(reason);
      if (job) {
        job.held = undefined;
        this.finish(lane, job);
      }
    });
    return lane.worker;
  }

  private get groups(): readonly Group[] {
    return [this.ordinary, this.heavy];
  }

  private get lanes(): readonly Lane[] {
    return [...this.ordinary.lanes, ...this.heavy.lanes];
  }

  refuseIfClosed(): void {
    if (this.hasClosed) throw new IntersticeError('DRAINING', 'this server is shutting down');
  }

  /** When a place in the queue should be free: the queue shortens by one each mean job time over the threads. */
  private retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.meanJobMs / this.threads / 1000));
  }
}

/** before the first job has ended */
const FIRST_GUESS_MS = 1000;
/** of the newest job in the running mean: about the last five count */
const MEAN_WEIGHT = 0.2;

function groupOf(count: number): Group {
  return { lanes: Array.from({ length: count }, () => new Lane()), queue: new FairQueue() };
}

function countElements({ triangles, segments, particles, tetrahedra }: MeshInput): number {
  const rows = (array: Uint32Array | undefined, width: number) => (array?.length ?? 0) / width;
  return rows(triangles, 3) + rows(segments, 2) + rows(particles, 1) + rows(tetrahedra, 4);
}
