import { availableParallelism } from 'node:os';
import type { ResourceLimits } from 'node:worker_threads';
import { IntersticeError } from '../errors.js';
import type { EngineDescription } from '../solver/types.js';
import { monotonicMs } from './clock.js';
import type { Jobs, WorkerSetup } from './messages.js';
import { type JobHooks, type JobOwner, PoolJob } from './pool-job.js';
import { PoolWorker } from './pool-worker.js';

export interface PoolOptions extends WorkerSetup {
  /** worker threads at most, started as they are needed; default: one a core */
  readonly threads?: number;
  /** jobs that may wait; one more is refused with QUEUE_FULL */
  readonly maxQueue: number;
  /**
   * V8's limits of each thread (default: V8's own). They bound the heap of objects only: positions, pairs and trees live
   * in array buffers outside of it, and are bounded by the limits on meshes instead.
   */
  readonly resourceLimits?: ResourceLimits;
  /** a thread died, with or without a job; another is started when there is work */
  readonly onWorkerLost?: (reason: IntersticeError) => void;
}

/**
 * Jobs in the order they came, on a bounded number of threads. One bounded queue for all; a thread that dies fails the
 * job it was doing, and no other.
 */
export class WorkerPool {
  private readonly options: PoolOptions;
  private readonly threads: number;
  private readonly workers = new Set<PoolWorker>();
  private readonly queue: PoolJob[] = [];
  private readonly running = new Map<PoolJob, PoolWorker>();
  private isClosed = false;
  /** running mean of how long jobs took, for Retry-After */
  private meanJobMs = FIRST_GUESS_MS;

  constructor(options: PoolOptions) {
    this.options = options;
    this.threads = options.threads ?? availableParallelism();
    if (!Number.isInteger(this.threads) || this.threads < 1) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `threads is ${this.threads}; it must be a whole number, at least 1`,
      );
    }
  }

  get waitingCount(): number {
    return this.queue.length;
  }

  get runningCount(): number {
    return this.running.size;
  }

  /** Starts a first thread, if there is none, and waits until it has opened its engine. */
  async hello(): Promise<EngineDescription> {
    this.refuseIfClosed();
    const [first] = this.workers;
    const worker = first ?? this.startWorker();
    worker.hold();
    try {
      return await worker.hello;
    } finally {
      worker.release();
    }
  }

  /**
   * @throws QUEUE_FULL with the seconds after which a place should be free; DRAINING once closed; CANCELLED,
   * DEADLINE_EXCEEDED (while waiting); INTERNAL when the thread dies; and whatever the job itself refuses
   */
  async run<K extends keyof Jobs>(kind: K, input: Jobs[K]['input'], hooks: JobHooks = {}): Promise<Jobs[K]['answer']> {
    this.refuseIfClosed();
    if (hooks.signal?.aborted) throw new IntersticeError('CANCELLED', 'the caller went away');
    if (this.queue.length >= this.options.maxQueue && !this.hasIdleThread()) {
      throw new IntersticeError('QUEUE_FULL', `${this.queue.length} requests are waiting already`, {
        retryAfterSeconds: this.retryAfterSeconds(),
      });
    }
    // Kind and input belong together by the signature above; the pair is taken apart again by the worker's switch.
    const request = { kind, input } as ConstructorParameters<typeof PoolJob>[0];
    const job = new PoolJob(request, hooks, this.owner);
    this.queue.push(job);
    this.dispatch();
    return job.answer as Promise<Jobs[K]['answer']>;
  }

  /** Refuses what waits and what comes, stops what runs (DRAINING), ends all threads. Drain before it, not by it. */
  async close(): Promise<void> {
    this.isClosed = true;
    const reason = () => new IntersticeError('DRAINING', 'this server is shutting down');
    for (const job of this.queue.splice(0)) job.stop(reason());
    for (const job of this.running.keys()) job.stop(reason());
    await Promise.all([...this.workers].map((worker) => worker.terminate()));
  }

  private readonly owner: JobOwner = {
    withdraw: (job) => {
      const place = this.queue.indexOf(job);
      if (place >= 0) this.queue.splice(place, 1);
    },
    complete: (job) => {
      const worker = this.running.get(job);
      this.running.delete(job);
      this.meanJobMs += (monotonicMs() - job.startedAt - this.meanJobMs) * MEAN_WEIGHT;
      worker?.finish();
      this.dispatch();
    },
  };

  private dispatch(): void {
    while (this.queue.length > 0 && !this.isClosed) {
      const worker = this.idleWorker();
      if (!worker) return;
      const job = this.queue.shift()!;
      this.running.set(job, worker);
      try {
        worker.start(job.begin(), job);
      } catch (thrown) {
        // The request could not be copied (out of memory, or something that is no plain data).
        job.lose(IntersticeError.from(thrown));
        this.owner.complete(job);
      }
    }
  }

  private hasIdleThread(): boolean {
    return this.running.size < this.threads;
  }

  private idleWorker(): PoolWorker | undefined {
    for (const worker of this.workers) if (!worker.isBusy) return worker;
    return this.workers.size < this.threads ? this.startWorker() : undefined;
  }

  private startWorker(): PoolWorker {
    const { engine, limits, allowUnverified, resourceLimits = {} } = this.options;
    const worker: PoolWorker = new PoolWorker({ engine, limits, allowUnverified }, resourceLimits, (reason) => {
      this.workers.delete(worker);
      for (const [job, own] of this.running) if (own === worker) this.running.delete(job);
      if (this.isClosed) return;
      this.options.onWorkerLost?.(reason);
      this.dispatch();
    });
    this.workers.add(worker);
    return worker;
  }

  private refuseIfClosed(): void {
    if (this.isClosed) throw new IntersticeError('DRAINING', 'this server is shutting down');
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
