import t from 'tap';
import { SharedTime } from '../../src/lanes/shared-time.js';
import { seeded } from '../support/random.js';

t.test('a job alone is charged all of its time, and jobs side by side an equal share each', async (t) => {
  const time = new SharedTime<string>();
  time.begin('a', 1000);
  t.equal(time.end('a', 1100), 100);
  for (const job of ['b', 'c', 'd', 'e']) time.begin(job, 2000);
  t.same(
    ['b', 'c', 'd', 'e'].map((job) => time.end(job, 2100)),
    [25, 25, 25, 25],
    'not 100 each',
  );
  time.begin('f', 3000);
  time.begin('g', 3060);
  t.equal(time.end('f', 3100), 60 + 20);
  t.equal(time.end('g', 3130), 20 + 30);
  t.equal(time.end('g', 3140), 0, 'it has ended already');
});

t.test('the total charge of all jobs is the time in which any of them ran', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const time = new SharedTime<number>();
  const running: number[] = [];
  let [now, busy, charged] = [0, 0, 0];
  for (let job = 0; job < 1000 || running.length > 0; job++) {
    const passed = random.int(50);
    now += passed;
    if (running.length > 0) busy += passed;
    if (job < 1000 && random() < 0.5) {
      time.begin(job, now);
      running.push(job);
    } else if (running.length > 0) {
      const [one] = running.splice(random.int(running.length), 1);
      charged += time.end(one!, now);
    }
  }
  t.ok(Math.abs(charged - busy) < 1e-6 * busy, `${charged} of ${busy} ms`);
});
