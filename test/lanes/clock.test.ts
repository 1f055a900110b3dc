import { Worker } from 'node:worker_threads';
import t from 'tap';
import { monotonicMs, toMonotonicMs } from '../../src/lanes/clock.js';

t.test('a moment keeps its place on the shared clock', async (t) => {
  const before = monotonicMs();
  const moment = performance.now();
  const after = monotonicMs();
  const mapped = toMonotonicMs(moment);
  // The two clocks tick at one rate but are read one after the other.
  t.ok(mapped >= before - 1 && mapped <= after + 1, `${before} ≤ ${mapped} ≤ ${after}`);
});

t.test('every thread reads the same clock', async (t) => {
  const source = `
    const { parentPort } = require('node:worker_threads');
    import(${JSON.stringify(new URL('../../src/lanes/clock.js', import.meta.url).href)})
      .then(({ monotonicMs }) => parentPort.postMessage(monotonicMs()));`;
  const before = monotonicMs();
  const worker = new Worker(source, { eval: true });
  const there = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  t.ok(before <= there && there <= monotonicMs());
});
