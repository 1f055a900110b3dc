import { workerData } from 'node:worker_threads';

const gate = new Int32Array(workerData as SharedArrayBuffer);
Atomics.wait(gate, 0, 0);
await import('../../../src/transport/json/coder-thread.js');
