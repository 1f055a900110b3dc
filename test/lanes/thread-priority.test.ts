import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import t from 'tap';

const module = new URL('../../src/lanes/thread-priority.js', import.meta.url).href;

/** The priority of a thread before and after the call, as the thread reports it. */
async function prioritiesOf(): Promise<number[]> {
  const text = `
    const { getPriority } = require('node:os');
    const { parentPort } = require('node:worker_threads');
    import(${JSON.stringify(module)}).then(({ lowerPriority }) => {
      const before = getPriority(0);
      lowerPriority(10);
      parentPort.postMessage([before, getPriority(0)]);
    });`;
  const worker = new Worker(text, { eval: true });
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  } finally {
    await worker.terminate();
  }
}

t.test('a thread lowers its own priority and no other', async (t) => {
  const own = getPriority(0);
  const [before, after] = await prioritiesOf();
  const lower = process.platform === 'linux' ? Math.min(19, before! + 10) : before;
  t.equal(after, lower);
  t.equal(getPriority(0), own, 'the thread that started it stays where it is');
  t.same(await prioritiesOf(), [before, after], 'and so does the next one');
});
