import { workerData } from 'node:worker_threads';
import { giveWay } from './give-way.js';
import type { WorkerSetup } from './messages.js';

/** Where a thread starts. What it is to do comes after the question who goes first: reading all that code is work as well. */

if ((workerData as WorkerSetup).givesWay) giveWay();
await import('./worker-jobs.js');
