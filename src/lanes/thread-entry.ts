import { workerData } from 'node:worker_threads';
import type { WorkerSetup } from './messages.js';
import { lowerPriority } from './thread-priority.js';

/* Where a worker thread starts. The priority is set before the code of the jobs is loaded, because loading takes time too. */

lowerPriority((workerData as WorkerSetup).niceSteps);
await import('./worker-thread.js');
