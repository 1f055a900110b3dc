import { Worker } from 'node:worker_threads';
import t from 'tap';
import { monotonicMs, throttle, toMonotonicMs } from '../../src/jobs/clock.js';

t.test('a value of performance.now() is converted to the shared clock', async (t) => {
  // The two clocks tick at one rate but are read one after the other, and a thread may stand still between the two.
  for (;;) {
    const before = monotonicMs();
    const mapped = toMonotonicMs(performance.now());
    const after = monotonicMs();
    if (after - before > 0.5) continue;
    t.ok(mapped >= before - 1 && mapped <= after + 1, `${before} ≤ ${mapped} ≤ ${after}`);
    return;
  }
});

t.test('every thread reads the same clock', async (t) => {
  const source = `
    const { parentPort } = require('node:worker_threads');
    import(${JSON.stringify(new URL('../../src/jobs/clock.js', import.meta.url).href)})
      .then(({ monotonicMs }) => parentPort.postMessage(monotonicMs()));`;
  const before = monotonicMs();
  const worker = new Worker(source, { eval: true });
  const there = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  t.ok(before <= there && there <= monotonicMs());
});

t.test('a throttle passes the first value and then one per interval', async (t) => {
  let now = 0;
  const seen: number[] = [];
  const offer = throttle(
    (value: number) => seen.push(value),
    50,
    () => now,
  );
  for (const time of [0, 10, 49, 50, 51, 99.9, 120, 300, 301]) {
    now = time;
    offer(time);
  }
  t.same(seen, [0, 50, 120, 300]);
});
