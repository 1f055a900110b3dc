/**
 * Runs test files one after the other in this process, as deploy/test.mjs sends them: a file that starts a process of its own pays half a second
 * for it, and a GPU file compiles all kernels anew, which takes longer than most of them. The assertions of all files are one TAP stream; what ends a file
 * in it is an assertion that begins with END and tells the seconds that the file took, by the processor and by the clock, and the bytes that
 * the process holds by then.
 */
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { processorTime } from './test-cost.mjs';
import { BARRIER, END } from './test-tally.mjs';

/** For what one file makes and the next can use: functions here run when the last file has ended (test/support/shared-device.ts). */
const lastly = [];
globalThis[Symbol.for('interstice.tests.lastly')] = lastly;

// What a file registers for its end runs at its end, not at that of the process. deploy/test.mjs limits the time of each file.
const teardowns = [];
t.teardown = (run) => teardowns.push(run);
t.setTimeout = () => undefined;

/** Runs what was registered, the last first. */
async function runAll(functions) {
  for (let run = functions.pop(); run; run = functions.pop()) {
    try {
      await run();
    } catch (error) {
      t.fail(`a teardown fails: ${error?.message ?? error}`, { stack: error?.stack });
    }
  }
}

async function runFile(file) {
  const [processor, clock] = [processorTime(), performance.now()];
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    t.fail(`(the file itself: ${error?.message ?? error})`, { stack: error?.stack });
  }
  // Tests run in the order in which they were registered, so those of the file are over when this one is.
  await t.test(BARRIER, async () => undefined);
  await runAll(teardowns);
  const seconds = (performance.now() - clock) / 1000;
  t.pass(`${END} ${processorTime() - processor} ${seconds} ${process.memoryUsage.rss()}`);
  // A parser knows that an assertion is over when another one follows.
  t.pass(BARRIER);
}

/** The next file, or undefined. While a file runs, the channel does not keep the process from ending: a test that waits for nothing fails. */
async function receive() {
  process.channel.ref();
  const { file } = await new Promise((resolve) => process.once('message', resolve));
  process.channel.unref();
  return file;
}

for (let file = await receive(); file; file = await receive()) await runFile(file);
await runAll(lastly);
process.disconnect();
