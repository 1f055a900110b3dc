import type { PoolJob } from './pool-job.js';
import type { PoolWorker } from './pool-worker.js';

/** A place for one worker thread, started when first needed and replaced when it dies. */
export class Lane {
  worker: PoolWorker | undefined;
  /** the job that runs here */
  job: PoolJob | undefined;
  /** scenes that are at home here */
  scenes = 0;
}
