import { availableParallelism } from 'node:os';
import type { ResourceLimits } from 'node:worker_threads';
import { IntersticeError } from '../contract/errors.js';
import type { MeshInput } from '../contract/mesh.js';
import { HelperPool } from '../threads/pool.js';
import { FairQueue } from './fair-queue.js';
import type { LaneJob } from './lane-job.js';
import { LaneWorker } from './lane-worker.js';
import type { WorkerSetup } from './messages.js';

export interface LanePoolOptions extends Omit<WorkerSetup, 'hasLowPriority' | 'helpers'> {
  /** how many threads may do ordinary work; each starts when it is needed; default: one per core */
  readonly threads?: number | undefined;
  /** most threads that compute at the same time, helpers included; default: one per core. 1 = no helpers */
  readonly cores?: number | undefined;
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
  readonly lanes: readonly Lane[];
  readonly queue: FairQueue<LaneJob>;
}

/** All lanes: ordinary ones, and heavy ones for large meshes. */
export class LanePool {
  readonly ordinary: LaneGroup;
  readonly heavy: LaneGroup;
  private readonly helpers: HelperPool;

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
    this.ordinary = createGroup(threads);
    // Half as many, at least one: the speed of heavy jobs depends on memory more than on cores.
    this.heavy = createGroup(Math.max(1, Math.floor(threads / 2)));
    this.helpers = new HelperPool(options.cores ?? availableParallelism());
  }

  get groups(): readonly LaneGroup[] {
    return [this.ordinary, this.heavy];
  }

  get lanes(): readonly Lane[] {
    return [...this.ordinary.lanes, ...this.heavy.lanes];
  }

  get waitingCount(): number {
    return this.ordinary.queue.size + this.heavy.queue.size;
  }

  get runningCount(): number {
    return this.lanes.filter((lane) => lane.job).length;
  }

  /** Bytes that threads keep for their next jobs: bounded by the largest scene of each, freed with its last scene. */
  get sharedBytes(): number {
    return this.lanes.reduce((sum, { worker }) => sum + (worker?.sharedBytes ?? 0), 0);
  }

  groupFor(mesh: MeshInput): LaneGroup {
    return countElements(mesh) > this.heavyElements ? this.heavy : this.ordinary;
  }

  groupOf(lane: Lane): LaneGroup {
    return this.heavy.lanes.includes(lane) ? this.heavy : this.ordinary;
  }

  /** The groups that work may belong to whose mesh is not known yet. @param bytes of the request, if known */
  possibleGroups(bytes: number | undefined, isForScene: boolean): readonly LaneGroup[] {
    // In every format an element takes at least one byte. A scene is heavy only if a heavy lane has been started for it.
    const isOrdinary = isForScene
      ? this.heavy.lanes.every(({ worker }) => !worker)
      : bytes !== undefined && bytes <= this.heavyElements;
    return isOrdinary ? [this.ordinary] : this.groups;
  }

  /** The worker of a lane; starts its thread if there is none. */
  workerOf(lane: Lane): LaneWorker {
    if (lane.worker) return lane.worker;
    const { engine, limits, allowUnverified, resourceLimits = {} } = this.options;
    const { link, forget } = this.helpers.connect();
    const setup = { engine, limits, allowUnverified, hasLowPriority: this.heavy.lanes.includes(lane), helpers: link };
    lane.worker = new LaneWorker(setup, resourceLimits, (reason) => {
      lane.worker = undefined;
      forget();
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

function createGroup(count: number): LaneGroup {
  return { lanes: Array.from({ length: count }, () => new Lane()), queue: new FairQueue() };
}

function countElements({ triangles, segments, particles, tetrahedra }: MeshInput): number {
  const rows = (array: Uint32Array | undefined, width: number) => (array?.length ?? 0) / width;
  return rows(triangles, 3) + rows(segments, 2) + rows(particles, 1) + rows(tetrahedra, 4);
}
