import { parentPort, threadId } from 'node:worker_threads';
import { type CoderTask, work } from '../../../src/transport/json/coder-work.js';

/** A thread of the coder that dies of every body with "die" in it, and works otherwise. */
const port = parentPort!;
port.on('message', (task: CoderTask) => {
  const text = task.kind === 'decode' ? Buffer.from(task.bytes).toString() : JSON.stringify(task.message);
  if (text.includes('die by exit')) process.exit(3);
  if (text.includes('die by throwing')) throw new Error(`planted fault in thread ${threadId > 0}`);
  const { reply, transfer } = work(task);
  port.postMessage(reply, transfer);
});
