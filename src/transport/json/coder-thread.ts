import { parentPort } from 'node:worker_threads';
import { type CoderTask, work } from './coder-work.js';

/** The thread of a {@link JsonCoder}: one task at a time, answered in the order they came. */

const port = parentPort;
if (!port) throw new Error('this file is the start of a worker thread');

port.on('message', (task: CoderTask) => {
  const { reply, transfer } = work(task);
  port.postMessage(reply, transfer);
});
