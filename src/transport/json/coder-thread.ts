import { parentPort } from 'node:worker_threads';
import { type CoderTask, work } from './coder-work.js';

/** The thread of a JsonCoder: does one task at a time, in the order of arrival. */

const port = parentPort;
if (!port) throw new Error('This file is the entry point of a worker thread.');

port.on('message', (task: CoderTask) => {
  const { reply, transfer } = work(task);
  port.postMessage(reply, transfer);
});
