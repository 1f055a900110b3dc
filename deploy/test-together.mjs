/**
 * Runs test files one after another in this process, as deploy/test.mjs sends them: a separate process takes half a
 * second to start, and a GPU file in it compiles all kernels again, which takes longer than most of these files. The
 * assertions of all files form one TAP stream; a file ends in it with an assertion that begins with END and states the
 * processor time and elapsed time of the file in seconds, and the memory of the process in bytes.
 */
import { pathToFileURL } from 'node:url';
import t from 'tap';
import './test-compare.mjs';
import { processorTime } from './test-cost.mjs';
import { watchEnd } from './test-end.mjs';
import { BARRIER, END } from './test-tally.mjs';

/** Functions that run after the last file, for objects that files share (test/support/shared-device.ts). */
const lastly = [];
globalThis[Symbol.for('interstice.tests.lastly')] = lastly;

// Functions that a file registers for its end run at its end, not at that of the process. deploy/test.mjs limits the
// time of each file.
const teardowns = [];
t.teardown = (run) => teardowns.push(run);
t.setTimeout = () => undefined;

/** A process that has not ended this long after its last file says what keeps it alive: some test has left it open. */
const END_AFTER_MS = 60_000;

/** Runs the registered functions, the last first. */
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
  // A parser recognises the end of an assertion only when another one follows.
  t.pass(BARRIER);
}

/**
 * The next file, or undefined. While a file runs, the channel does not keep the process alive, so that a test that
 * waits for nothing fails.
 */
async function receive() {
  process.channel.ref();
  const { file } = await new Promise((resolve) => process.once('message', resolve));
  process.channel.unref();
  return file;
}

for (let file = await receive(); file; file = await receive()) await runFile(file);
watchEnd(END_AFTER_MS);
await runAll(lastly);
process.disconnect();
