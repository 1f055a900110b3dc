import { workerData } from 'node:worker_threads';
import type { WorkerSetup } from './messages.js';
import { lowerPriority } from './thread-priority.js';

/* The entry point of a worker thread. Its priority is set before the code of the jobs is loaded, which takes time. */

lowerPriority((workerData as WorkerSetup).niceSteps);
await import('./worker-thread.js');
