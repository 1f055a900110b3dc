import { Worker } from 'node:worker_threads';
import t from 'tap';
import { JobFlags } from '../../src/lanes/messages.js';

const MESSAGES = JSON.stringify(new URL('../../src/lanes/messages.js', import.meta.url).href);

/** A thread that waits for its reader once it has sent `sent` states, and reports when it continues. */
function waiter(flags: JobFlags, sent: number, window: number): { woke: Promise<unknown>; asleep: Promise<unknown> } {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(${MESSAGES}).then(({ JobFlags }) => {
      parentPort.postMessage('waiting');
      new JobFlags(workerData.words).waitForReader(workerData.sent, workerData.window);
      parentPort.postMessage('awake');
    });`;
  const worker = new Worker(source, { eval: true, workerData: { words: flags.words, sent, window } });
  const heard = (word: string) =>
    new Promise((resolve, reject) => {
      worker.on('message', (message) => message === word && resolve(message));
      worker.once('error', reject);
    });
  return { asleep: heard('waiting'), woke: heard('awake') };
}

t.test('the thread sees that its job is cancelled', async (t) => {
  const flags = new JobFlags();
  t.notOk(flags.isCancelled);
  new JobFlags(flags.words).cancel();
  t.ok(flags.isCancelled);
});

t.test('a fast reader never makes the thread wait', async (t) => {
  const flags = new JobFlags();
  flags.waitForReader(3, 4);
  flags.acknowledgeState();
  flags.waitForReader(4, 4);
  t.pass('did not block');
});

t.test('a slow reader blocks the thread until it has taken a state', async (t) => {
  const flags = new JobFlags();
  const { woke, asleep } = waiter(flags, 4, 4);
  await asleep;
  flags.acknowledgeState();
  t.equal(await woke, 'awake');
});

t.test('cancelling the job ends the wait of the thread', async (t) => {
  const flags = new JobFlags();
  const { woke, asleep } = waiter(flags, 100, 4);
  await asleep;
  flags.cancel();
  t.equal(await woke, 'awake');
});
