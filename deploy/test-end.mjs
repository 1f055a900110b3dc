/**
 * A thread that deploy/test-together.mjs starts after its last file. If the process has not ended when its time is up,
 * it says what keeps it: open resources, if the main thread still turns its event loop, or else that this thread is
 * blocked in native code. It lists the threads with their states and processor times, which tells a driver that still
 * computes from one that waits.
 */
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** How long the main thread may take to answer. */
const ANSWER_MS = 5_000;

/** @returns a line for each thread of the process: its name, its state, ticks of user and system time, where it sleeps */
function threads() {
  const folder = '/proc/self/task';
  return readdirSync(folder).map((id) => {
    try {
      const [name, rest] = readFileSync(`${folder}/${id}/stat`, 'utf8').split(/(?<=\)) /);
      const fields = rest.split(' ');
      const sleeps = readFileSync(`${folder}/${id}/wchan`, 'utf8');
      return `  ${name} ${fields[0]}, ticks ${fields[11]} + ${fields[12]}, ${sleeps}\n`;
    } catch {
      return '';
    }
  });
}

/** Starts the thread, which does not keep the process alive. @param {number} milliseconds until it speaks */
export function watchEnd(milliseconds) {
  const thread = new Worker(new URL(import.meta.url), { workerData: milliseconds });
  thread.on('message', () => thread.postMessage(process.getActiveResourcesInfo().join(', ')));
  thread.unref();
}

if (!isMainThread) {
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  await pause(workerData);
  const answer = new Promise((resolve) => parentPort.once('message', resolve));
  parentPort.postMessage('');
  const open = await Promise.race([answer, pause(ANSWER_MS)]);
  const why = open === undefined ? 'the main thread is blocked' : `still open are ${open}`;
  let listed = '';
  try {
    listed = threads().join('');
  } catch {
    // Only Linux has them.
  }
  // Not process.stderr, which writes through the main thread.
  writeSync(2, `not ended ${workerData / 1000} s after the last file: ${why}\n${listed}`);
}
