import { availableParallelism } from 'node:os';
import type { ResourceLimits } from 'node:worker_threads';
import { IntersticeError } from '../contract/errors.js';
import type { MeshInput } from '../contract/mesh.js';
import type { Priority } from '../contract/requests.js';
import { sumOfCounts } from '../solver/convoy-counts.js';
import type { ConvoyCounts } from '../solver/engine.js';
import { ProcessAccount } from '../threads/account.js';
import { HelperPool } from '../threads/pool.js';
import { FairQueue } from './fair-queue.js';
import type { LaneJob } from './lane-job.js';
import { LaneWorker } from './lane-worker.js';
import type { WorkerSetup } from './messages.js';
import { SharedTime } from './shared-time.js';

export interface LanePoolOptions extends Omit<WorkerSetup, 'niceSteps' | 'helpers' | 'accounts'> {
  /**
   * number of threads that may do ordinary work; each starts when it is needed. Default: one per core, or one if the
   * scenes of an engine submit together
   */
  readonly threads?: number | undefined;
  /** most threads that compute at the same time, helpers included; default: one per core. 1 = no helpers */
  readonly cores?: number | undefined;
  /** bytes of the arrays that all threads together compute on, including arrays kept for the next job; 0 = no limit */
  readonly maxWorkBytes?: number | undefined;
  /** bytes that the engines of the threads together may hold on the device; 0 = no limit */
  readonly maxDeviceBytes?: number | undefined;
  /** elements; larger meshes are processed on the large lanes. Default {@link LARGE_ELEMENTS} */
  readonly largeElements?: number | undefined;
  /** elements; larger meshes are processed on the heavy lanes. Default {@link HEAVY_ELEMENTS} */
  readonly heavyElements?: number | undefined;
  /**
   * V8's limits for each thread (default: V8's own). They limit only the heap of objects. Positions, pairs and trees
   * are in array buffers outside of it, which the limits on meshes limit.
   */
  readonly resourceLimits?: ResourceLimits | undefined;
  /** called with the reason when the engine of a thread has lost its device, which it replaces */
  readonly onDeviceLost?: ((reason: string) => void) | undefined;
}

/**
 * Number of elements (as sent: triangles, segments, particles, tetrahedra) beyond which a step takes tenths of a second and a
 * resolve seconds. Such jobs run on separate threads, and the operating system shares the cores between the kinds: small
 * jobs are slowed down, but they need not wait for a large job to end.
 */
const LARGE_ELEMENTS = 20_000;

/** The same, for jobs that may hold a thread for many seconds, with any engine, and take gigabytes. */
const HEAVY_ELEMENTS = 200_000;

/**
 * On the scale of `nice`: when cores are short, a thread five steps down gets a third of the time of another one, so a
 * large lane gets a third of the time of an ordinary one, and so on down to a batch lane.
 */
const LARGE_NICE_STEPS = 5;
const HEAVY_NICE_STEPS = 10;
const BATCH_NICE_STEPS = 15;

/** A place for one worker thread, which is started when first needed and replaced when it dies. */
export class Lane {
  worker: LaneWorker | undefined;
  /** the running jobs: one, or several if the engine runs several at once */
  readonly jobs = new Map<LaneJob, JobSize>();
  readonly time = new SharedTime<LaneJob>();
  /** the scenes whose home is this lane */
  readonly residents = new Set<MeshSize>();

  /** Number of scenes whose home is this lane. */
  get scenes(): number {
    return this.residents.size;
  }

  /** Number of these scenes that submit together. */
  get smallScenes(): number {
    return [...this.residents].filter((scene) => this.isSmall(scene)).length;
  }

  /** Largest number of jobs that run at once. */
  get places(): number {
    return this.worker?.together?.jobs ?? 1;
  }

  /** Whether scenes of such a mesh submit together here. */
  isSmall({ vertices }: MeshSize): boolean {
    return vertices <= (this.worker?.together?.vertices ?? 0);
  }

  /** Whether some job can start now. */
  get hasRoom(): boolean {
    return this.jobs.size < this.places;
  }

  /** Number of jobs of this size that can start now. */
  placesFor(size: JobSize): number {
    const isLight = (one: JobSize) => one.runsBesideOthers && this.isSmall(one);
    if (this.jobs.size === 0 && !isLight(size)) return 1;
    return isLight(size) && [...this.jobs.values()].every(isLight) ? this.places - this.jobs.size : 0;
  }

  /** Whether a job of this size can start now. */
  takes(size: JobSize): boolean {
    return this.placesFor(size) > 0;
  }
}

/** The size of a mesh, which decides whether its scenes submit together. */
export interface MeshSize {
  readonly vertices: number;
}

/** The mesh and the kind of a job, which decide whether it can run beside others on a lane. */
export interface JobSize extends MeshSize {
  /** whether it blocks the thread only briefly */
  readonly runsBesideOthers: boolean;
}

/** The lanes of one kind, with the jobs that wait for them. */
export interface LaneGroup {
  /** how much lower the priority of its threads is than that of others, on the scale of `nice` */
  readonly niceSteps: number;
  lanes: readonly Lane[];
  readonly queue: FairQueue<LaneJob>;
}

/**
 * All lanes, in groups with a queue each; the operating system shares the cores between them. A job keeps its thread until it
 * ends, so jobs that must not wait for it need another thread:
 *
 *   sessions   the scenes of sessions, with small meshes
 *   ordinary   requests without a session, with small meshes
 *   large      both, with meshes of more than {@link LARGE_ELEMENTS}
 *   heavy      both, with meshes of more than {@link HEAVY_ELEMENTS}
 *   batch      requests without a session that request BATCH, and the scenes of tenants that may use no higher priority
 */
export class LanePool {
  /** Whether the first three are one group, because each further thread costs seconds and memory of a device. */
  private isThrifty = false;
  readonly sessions: LaneGroup;
  readonly ordinary: LaneGroup;
  readonly large: LaneGroup;
  readonly heavy: LaneGroup;
  readonly batch: LaneGroup;
  private readonly helpers: HelperPool;
  private readonly work: ProcessAccount;
  private readonly device: ProcessAccount;
  /** counts of threads that have ended */
  private pastConvoys = sumOfCounts([]);

  /**
   * @param onWorkerLost is called after the lane has lost its worker; the jobs that ran there are still on the lane
   * @param onEngineKnown is called when the lane has its engine, and so perhaps more places than one
   */
  constructor(
    private readonly options: LanePoolOptions,
    private readonly onWorkerLost: (lane: Lane, reason: IntersticeError) => void,
    private readonly onEngineKnown: (lane: Lane) => void,
  ) {
    const threads = options.threads ?? availableParallelism();
    if (!Number.isInteger(threads) || threads < 1) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `The number of threads is ${threads}; it must be a whole number, at least 1.`,
      );
    }
    this.sessions = createGroup(threads, 0);
    this.ordinary = createGroup(threads, 0);
    this.large = createGroup(threads, LARGE_NICE_STEPS);
    // Half as many, at least one: the speed of heavy jobs depends more on memory than on cores.
    this.heavy = createGroup(Math.max(1, Math.floor(threads / 2)), HEAVY_NICE_STEPS);
    this.batch = createGroup(threads, BATCH_NICE_STEPS);
    this.helpers = new HelperPool(options.cores ?? availableParallelism());
    this.work = new ProcessAccount(options.maxWorkBytes);
    this.device = new ProcessAccount(options.maxDeviceBytes);
  }

  /**
   * Called when the first engine is known. Scenes that submit together gain more the more of them share a device, so
   * unless the number of threads is set, one lane of each kind is enough.
   */
  adapt({ isCostly, together }: Pick<LaneWorker, 'isCostly' | 'together'>): void {
    this.isThrifty = isCostly;
    if (!together || this.options.threads !== undefined) return;
    for (const group of this.groups) {
      group.lanes = group.lanes.filter(({ worker, scenes }, n) => n === 0 || worker !== undefined || scenes > 0);
    }
  }

  get groups(): readonly LaneGroup[] {
    return [this.sessions, this.ordinary, this.large, this.heavy, this.batch];
  }

  get lanes(): readonly Lane[] {
    return this.groups.flatMap(({ lanes }) => lanes);
  }

  get waitingCount(): number {
    return this.groups.reduce((sum, { queue }) => sum + queue.size, 0);
  }

  get runningCount(): number {
    return this.lanes.reduce((sum, { jobs }) => sum + jobs.size, 0);
  }

  /**
   * Bytes that threads keep for their next jobs: a thread keeps at most what its largest scenes need, as many scenes as
   * it has jobs at once, and frees it with its last scene.
   */
  get sharedBytes(): number {
    return this.lanes.reduce((sum, { worker }) => sum + (worker?.sharedBytes ?? 0), 0);
  }

  /** Most scenes that a thread submits together; 1 = each alone, because of the setting or the device of the engine. */
  get scenesTogether(): number {
    return Math.max(1, ...this.lanes.map(({ places }) => places));
  }

  /** What the engines have submitted for several scenes together, in jobs that have ended; dead threads included. */
  get convoy(): ConvoyCounts {
    return sumOfCounts([this.pastConvoys, ...this.lanes.flatMap(({ worker }) => worker?.convoy ?? [])]);
  }

  /** Present bytes of the arrays that threads compute on, including resident proximity sets and recycled memory. */
  get workBytes(): number {
    return this.work.total;
  }

  /** Present bytes of the buffers of all engines on the device. */
  get deviceBytes(): number {
    return this.device.total;
  }

  /** For a request without a session. */
  groupFor(mesh: MeshInput, priority: Priority): LaneGroup {
    return this.groupOfKind(mesh, priority, this.ordinary);
  }

  /** For a scene, which stays on its lane whatever its steps request. @param priority of its opening */
  groupForScene(mesh: MeshInput, priority: Priority): LaneGroup {
    return this.groupOfKind(mesh, priority, this.isThrifty ? this.ordinary : this.sessions);
  }

  private groupOfKind(mesh: MeshInput, priority: Priority, small: LaneGroup): LaneGroup {
    if (priority === 'BATCH') return this.batch;
    const elements = countElements(mesh);
    if (elements > this.heavyElements) return this.heavy;
    return elements > this.largeElements && !this.isThrifty ? this.large : small;
  }

  groupOf(lane: Lane): LaneGroup {
    return this.groups.find(({ lanes }) => lanes.includes(lane))!;
  }

  /** The groups to which work may belong whose mesh is not known yet. @param bytes of the request, if known */
  possibleGroups(bytes: number | undefined, isForScene: boolean): readonly LaneGroup[] {
    // In every format an element takes at least one byte. A scene is on a lane of a kind only if one has been started. The
    // priority is in the body: batch lanes do not count, or a full queue would let in the body of every request while they
    // are free.
    const small = isForScene && !this.isThrifty ? this.sessions : this.ordinary;
    const mayExceed = (elements: number, { lanes }: LaneGroup): boolean =>
      isForScene ? lanes.some(({ worker }) => worker) : bytes === undefined || bytes > elements;
    return [
      small,
      ...(!this.isThrifty && mayExceed(this.largeElements, this.large) ? [this.large] : []),
      ...(mayExceed(this.heavyElements, this.heavy) ? [this.heavy] : []),
    ];
  }

  /** The worker of a lane; starts its thread if necessary. @throws DEVICE_LOST if the system provides no thread */
  workerOf(lane: Lane): LaneWorker {
    if (lane.worker) return lane.worker;
    const { engine, limits, allowUnverified, resourceLimits = {} } = this.options;
    const { link, forget } = this.helpers.connect();
    const [work, device] = [this.work.connect(), this.device.connect()];
    const accounts = { work: work.link, device: device.link };
    const { niceSteps } = this.groupOf(lane);
    const setup = { engine, limits, allowUnverified, niceSteps, helpers: link, accounts };
    const forgetThread = () => {
      forget();
      work.forget();
      device.forget();
    };
    let worker: LaneWorker;
    try {
      worker = new LaneWorker(setup, resourceLimits, {
        onGone: (reason) => {
          lane.worker = undefined;
          if (worker.convoy) this.pastConvoys = sumOfCounts([this.pastConvoys, worker.convoy]);
          forgetThread();
          this.onWorkerLost(lane, reason);
        },
        onDeviceLost: (reason) => this.options.onDeviceLost?.(reason),
      });
    } catch (thrown) {
      forgetThread();
      throw noThread(thrown);
    }
    lane.worker = worker;
    worker.hello.then(
      () => this.onEngineKnown(lane),
      () => {},
    );
    return worker;
  }

  async terminate(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.worker?.terminate()));
    await this.helpers.close();
  }

  private get largeElements(): number {
    return this.options.largeElements ?? LARGE_ELEMENTS;
  }

  private get heavyElements(): number {
    return this.options.heavyElements ?? HEAVY_ELEMENTS;
  }
}

function createGroup(count: number, niceSteps: number): LaneGroup {
  return { niceSteps, lanes: Array.from({ length: count }, () => new Lane()), queue: new FairQueue() };
}

/** The process may have no more threads at present: `ulimit -u`, or the limit of a container on processes. */
function noThread(cause: unknown): IntersticeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new IntersticeError('DEVICE_LOST', `A worker thread could not be started: ${reason}.`, {
    cause,
    hint: 'Nothing changed; send the request again. The owner of the server can let its process have more threads.',
  });
}

function countElements({ triangles, segments, particles, tetrahedra }: MeshInput): number {
  const rows = (array: Uint32Array | undefined, width: number) => (array?.length ?? 0) / width;
  return rows(triangles, 3) + rows(segments, 2) + rows(particles, 1) + rows(tetrahedra, 4);
}
