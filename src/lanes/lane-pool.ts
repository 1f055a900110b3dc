import { availableParallelism } from 'node:os';
import type { ResourceLimits } from 'node:worker_threads';
import { IntersticeError } from '../contract/errors.js';
import type { MeshInput } from '../contract/mesh.js';
import type { Priority } from '../contract/requests.js';
import { ProcessAccount } from '../threads/account.js';
import { HelperPool } from '../threads/pool.js';
import { FairQueue } from './fair-queue.js';
import type { LaneJob } from './lane-job.js';
import { LaneWorker } from './lane-worker.js';
import type { WorkerSetup } from './messages.js';

export interface LanePoolOptions extends Omit<WorkerSetup, 'niceSteps' | 'helpers' | 'accounts'> {
  /** how many threads may do ordinary work; each starts when it is needed; default: one per core */
  readonly threads?: number | undefined;
  /** most threads that compute at the same time, helpers included; default: one per core. 1 = no helpers */
  readonly cores?: number | undefined;
  /** bytes that the threads together may hold of the arrays that they compute on, those kept for the next job included; 0 = no limit */
  readonly maxWorkBytes?: number | undefined;
  /** bytes that the engines of the threads together may hold on the device; 0 = no limit */
  readonly maxDeviceBytes?: number | undefined;
  /** elements; larger meshes are processed on the heavy lanes. Default {@link HEAVY_ELEMENTS} */
  readonly heavyElements?: number | undefined;
  /**
   * V8's limits for each thread (default: V8's own). They bound the heap of objects only. Positions, pairs and trees live in
   * array buffers outside of it, which the limits on meshes bound.
   */
  readonly resourceLimits?: ResourceLimits | undefined;
}

/**
 * Number of elements (as sent: triangles, segments, particles, tetrahedra) beyond which a job may hold a thread for seconds,
 * with any engine. Such jobs run on threads of their own, and the operating system shares the cores between the two kinds:
 * a resolve of a million triangles slows small sessions down, but they need not wait for its end.
 */
const HEAVY_ELEMENTS = 200_000;

/**
 * On the scale of `nice`: where cores are short, a heavy lane gets a tenth of the time of an ordinary one, and a batch lane a
 * third of that of a heavy one.
 */
const HEAVY_NICE_STEPS = 10;
const BATCH_NICE_STEPS = 15;

/** A place for one worker thread, which is started when first needed and replaced when it dies. */
export class Lane {
  worker: LaneWorker | undefined;
  /** the job that runs here */
  job: LaneJob | undefined;
  /** number of scenes whose home is this lane */
  scenes = 0;
}

/** The lanes of one kind, with the jobs that wait for them. */
export interface LaneGroup {
  /** by how much other threads have priority over its threads, on the scale of `nice` */
  readonly niceSteps: number;
  readonly lanes: readonly Lane[];
  readonly queue: FairQueue<LaneJob>;
}

/**
 * All lanes, in groups that the operating system shares the cores between: ordinary ones, heavy ones for large meshes, and
 * batch lanes for requests without a session that ask for the priority BATCH.
 */
export class LanePool {
  readonly ordinary: LaneGroup;
  readonly heavy: LaneGroup;
  readonly batch: LaneGroup;
  private readonly helpers: HelperPool;
  private readonly work: ProcessAccount;
  private readonly device: ProcessAccount;

  /** @param onWorkerLost is called after the lane has lost its worker; the job that ran there is still on the lane */
  constructor(
    private readonly options: LanePoolOptions,
    private readonly onWorkerLost: (lane: Lane, reason: IntersticeError) => void,
  ) {
    const threads = options.threads ?? availableParallelism();
    if (!Number.isInteger(threads) || threads < 1) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `The number of threads is ${threads}; it must be a whole number, at least 1.`,
      );
    }
    this.ordinary = createGroup(threads, 0);
    // Half as many, at least one: the speed of heavy jobs depends on memory more than on cores.
    this.heavy = createGroup(Math.max(1, Math.floor(threads / 2)), HEAVY_NICE_STEPS);
    this.batch = createGroup(threads, BATCH_NICE_STEPS);
    this.helpers = new HelperPool(options.cores ?? availableParallelism());
    this.work = new ProcessAccount(options.maxWorkBytes);
    this.device = new ProcessAccount(options.maxDeviceBytes);
  }

  get groups(): readonly LaneGroup[] {
    return [this.ordinary, this.heavy, this.batch];
  }

  get lanes(): readonly Lane[] {
    return this.groups.flatMap(({ lanes }) => lanes);
  }

  get waitingCount(): number {
    return this.groups.reduce((sum, { queue }) => sum + queue.size, 0);
  }

  get runningCount(): number {
    return this.lanes.filter((lane) => lane.job).length;
  }

  /** Bytes that threads keep for their next jobs: bounded by the largest scene of each, freed with its last scene. */
  get sharedBytes(): number {
    return this.lanes.reduce((sum, { worker }) => sum + (worker?.sharedBytes ?? 0), 0);
  }

  /** @param priority of a request without a session; absent for the scenes of sessions, whose steps may differ in priority */
  /** Bytes of the arrays that threads compute on, now; those of resident proximity sets and recycled memory included. */
  get workBytes(): number {
    return this.work.total;
  }

  /** Bytes of the buffers of all engines on the device, now. */
  get deviceBytes(): number {
    return this.device.total;
  }

  groupFor(mesh: MeshInput, priority?: Priority): LaneGroup {
    if (priority === 'BATCH') return this.batch;
    return countElements(mesh) > this.heavyElements ? this.heavy : this.ordinary;
  }

  groupOf(lane: Lane): LaneGroup {
    return this.groups.find(({ lanes }) => lanes.includes(lane))!;
  }

  /** The groups that work may belong to whose mesh is not known yet. @param bytes of the request, if known */
  possibleGroups(bytes: number | undefined, isForScene: boolean): readonly LaneGroup[] {
    // In every format an element takes at least one byte. A scene is heavy only if a heavy lane has been started for it. The
    // priority is in the body: batch lanes do not count, or a full queue would let in the body of every request while they
    // are free.
    const isOrdinary = isForScene
      ? this.heavy.lanes.every(({ worker }) => !worker)
      : bytes !== undefined && bytes <= this.heavyElements;
    return isOrdinary ? [this.ordinary] : [this.ordinary, this.heavy];
  }

  /** The worker of a lane; starts its thread if there is none. */
  workerOf(lane: Lane): LaneWorker {
    if (lane.worker) return lane.worker;
    const { engine, limits, allowUnverified, resourceLimits = {} } = this.options;
    const { link, forget } = this.helpers.connect();
    const [work, device] = [this.work.connect(), this.device.connect()];
    const accounts = { work: work.link, device: device.link };
    const { niceSteps } = this.groupOf(lane);
    const setup = { engine, limits, allowUnverified, niceSteps, helpers: link, accounts };
    lane.worker = new LaneWorker(setup, resourceLimits, (reason) => {
      lane.worker = undefined;
      forget();
      work.forget();
      device.forget();
      this.onWorkerLost(lane, reason);
    });
    return lane.worker;
  }

  async terminate(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.worker?.terminate()));
    await this.helpers.close();
  }

  private get heavyElements(): number {
    return this.options.heavyElements ?? HEAVY_ELEMENTS;
  }
}

function createGroup(count: number, niceSteps: number): LaneGroup {
  return { niceSteps, lanes: Array.from({ length: count }, () => new Lane()), queue: new FairQueue() };
}

function countElements({ triangles, segments, particles, tetrahedra }: MeshInput): number {
  const rows = (array: Uint32Array | undefined, width: number) => (array?.length ?? 0) / width;
  return rows(triangles, 3) + rows(segments, 2) + rows(particles, 1) + rows(tetrahedra, 4);
}
