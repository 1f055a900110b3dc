import { parentPort } from 'node:worker_threads';
import { writeWork } from './late-echo.js';

/**
 * The other side of the late echo: a thread that works for a while, like the lanes of the service, and then returns the
 * bytes that it received in memory of its own.
 */

/** ms; longer would change nothing: by then server and client sleep, and the work has passed through every cache. */
const WORK_MS = 200;
/** Bytes that the work reads repeatedly: more than the caches hold. */
const WORK_BYTES = 64 * 1024 * 1024;

const room = new Float64Array(WORK_BYTES / Float64Array.BYTES_PER_ELEMENT);
const port = parentPort!;

port.on('message', (shared: Uint8Array) => {
  const begun = performance.now();
  do for (let i = 0; i < room.length; i++) room[i]! += 1;
  while (performance.now() - begun < WORK_MS);
  const ms = performance.now() - begun;
  const answer = Uint8Array.from(shared);
  writeWork(answer, ms);
  port.postMessage(answer, [answer.buffer]);
});
