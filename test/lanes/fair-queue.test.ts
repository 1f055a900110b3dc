import fc from 'fast-check';
import t from 'tap';
import type { Claim } from '../../src/lanes/fair-queue.js';
import { FairQueue } from '../../src/lanes/fair-queue.js';
import { seeded } from '../support/random.js';

const PRIORITIES = ['BATCH', 'NORMAL', 'INTERACTIVE'] as const;

interface Job {
  readonly id: number;
  readonly claim: Claim;
  readonly cost: number;
}

const claimOf = (tenant: string, more: Partial<Claim> = {}): Claim => ({ tenant, priority: 'NORMAL', ...more });

/** Takes everything on one lane, each job to its end before the next; `arrive` may add between two. */
function drain(queue: FairQueue<Job>, most: number, arrive: () => void = () => {}): Job[] {
  const taken: Job[] = [];
  while (taken.length < most) {
    const job = queue.take(() => true);
    if (!job) break;
    taken.push(job);
    queue.finish(job, job.cost);
    arrive();
  }
  return taken;
}

const anyJob = fc.record({
  tenant: fc.constantFrom('a', 'b', 'c'),
  session: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  priority: fc.constantFrom(...PRIORITIES),
  cost: fc.integer({ min: 1, max: 5000 }),
});

t.test('everything is taken exactly once; a session keeps its order, one at a time', async (t) => {
  const { seed } = seeded();
  t.comment(`TEST_SEED=${seed}`);
  const order = fc.array(fc.tuple(anyJob, fc.boolean(), fc.nat(3)), { maxLength: 60 });
  fc.assert(
    fc.property(order, (plan) => {
      const queue = new FairQueue<Job>();
      const running: Job[] = [];
      const taken: Job[] = [];
      const flow = ({ claim }: Job) => `${claim.tenant}/${claim.session}`;
      const take = () => {
        const job = queue.take(() => true);
        if (!job) return false;
        const isAlone = job.claim.session === undefined || !running.some((other) => flow(other) === flow(job));
        if (!isAlone) throw new Error('two jobs of one session at once');
        running.push(job);
        taken.push(job);
        return true;
      };
      const finish = (k: number) => {
        const [job] = running.splice(k % running.length, 1);
        queue.finish(job!, job!.cost);
      };
      plan.forEach(([{ cost, ...claim }, takes, k], id) => {
        queue.add({ id, claim, cost }, claim);
        if (takes) take();
        if (running.length > 2) finish(k);
      });
      while (take() || running.length > 0) if (running.length > 0) finish(0);
      if (taken.length !== plan.length || queue.size !== 0) throw new Error('a job was lost');
      for (const name of new Set(taken.map(flow))) {
        const ids = taken.filter((job) => flow(job) === name && job.claim.session !== undefined).map(({ id }) => id);
        if (ids.some((id, n) => n > 0 && id < ids[n - 1]!)) throw new Error(`${name} was taken out of order: ${ids}`);
      }
    }),
    { seed: seed | 0 },
  );
  t.pass('held');
});

t.test('no flow starves: a batch job gets its turn however many new interactive sessions come', async (t) => {
  for (const isSameTenant of [true, false]) {
    const queue = new FairQueue<Job>();
    let id = 0;
    const add = (claim: Claim) => queue.add({ id: id++, claim, cost: 100 }, claim);
    const rival = isSameTenant ? 'a' : 'b';
    // Every rival is a new session without an outstanding charge, which a rank, or a tie at the clock, would let pass first.
    const arrive = () => add(claimOf(rival, { session: id, priority: 'INTERACTIVE' }));
    for (let k = 0; k < 5; k++) arrive();
    add(claimOf('a', { priority: 'BATCH' }));
    const taken = drain(queue, 200, arrive);
    const place = taken.findIndex(({ claim }) => claim.priority === 'BATCH');
    // Five rivals at a time with sixteen times its weight each: one turn in 81.
    t.ok(place >= 0 && place <= 85, `batch came ${place}th`);
  }
});

t.test('tenants get equal shares, whatever the number of their sessions and the length of their jobs', async (t) => {
  const queue = new FairQueue<Job>();
  let id = 0;
  const add = (claim: Claim, cost: number) => queue.add({ id: id++, claim, cost }, claim);
  for (let n = 0; n < 400; n++) add(claimOf('many', { session: n % 20 }), 10);
  for (let n = 0; n < 40; n++) add(claimOf('one', { session: 0 }), 100);
  const spent = { many: 0, one: 0 };
  for (const { claim, cost } of drain(queue, 150)) spent[claim.tenant as keyof typeof spent] += cost;
  const ratio = spent.many / spent.one;
  t.ok(ratio > 0.7 && ratio < 1.4, `${spent.many} ms to ${spent.one} ms`);
});

t.test('within a tenant, a session of short jobs is not delayed by one of long jobs', async (t) => {
  const queue = new FairQueue<Job>();
  let id = 0;
  for (let n = 0; n < 30; n++) {
    for (const [session, cost] of [
      [1, 1000],
      [2, 10],
    ] as const) {
      const claim = claimOf('a', { session });
      queue.add({ id: id++, claim, cost }, claim);
    }
  }
  const taken = drain(queue, 33);
  t.ok(taken.filter(({ claim }) => claim.session === 2).length >= 28);
});

t.test('priorities are weights: four times the share for each step', async (t) => {
  const queue = new FairQueue<Job>();
  let id = 0;
  for (let n = 0; n < 400; n++) {
    for (const priority of PRIORITIES) {
      const claim = claimOf('a', { priority });
      queue.add({ id: id++, claim, cost: 100 }, claim);
    }
  }
  const taken = drain(queue, 210);
  const count = PRIORITIES.map((priority) => taken.filter(({ claim }) => claim.priority === priority).length);
  t.ok(Math.abs(count[0]! - 10) <= 3, `batch ${count[0]}`);
  t.ok(Math.abs(count[1]! - 40) <= 5, `normal ${count[1]}`);
  t.ok(Math.abs(count[2]! - 160) <= 8, `interactive ${count[2]}`);
});

t.test('a lane takes only fitting jobs, and the others keep their places', async (t) => {
  const queue = new FairQueue<Job>();
  const jobs = [1, 2, 3].map((id) => ({ id, claim: claimOf('a', { session: id }), cost: 1 }));
  for (const job of jobs) queue.add(job, job.claim);
  t.equal(
    queue.take(({ id }) => id === 2),
    jobs[1],
  );
  t.equal(
    queue.take(({ id }) => id === 2),
    undefined,
  );
  t.equal(queue.size, 2);
  t.ok(queue.mustWait(claimOf('a', { session: 2 })), 'it runs');
  t.ok(queue.mustWait(claimOf('a', { session: 1 })), 'it waits');
  t.notOk(queue.mustWait(claimOf('a', { session: 9 })));
  t.notOk(queue.mustWait(claimOf('a')));
});

t.test('a withdrawn job leaves the queue and delays no other job', async (t) => {
  const queue = new FairQueue<Job>();
  const jobs = [1, 2].map((id) => ({ id, claim: claimOf('a', { session: 1 }), cost: 1 }));
  for (const job of jobs) queue.add(job, job.claim);
  t.same(
    [...queue.waitingItems()].map(({ id }) => id),
    [1, 2],
  );
  t.ok(queue.remove(jobs[0]!));
  t.notOk(queue.remove(jobs[0]!));
  t.equal(
    queue.take(() => true),
    jobs[1],
  );
  t.notOk(queue.remove(jobs[1]!), 'it runs');
});

t.test('flows without jobs are removed', async (t) => {
  const queue = new FairQueue<Job>();
  for (let session = 0; session < 5000; session++) {
    const claim = claimOf(`tenant ${session % 50}`, { session });
    queue.add({ id: session, claim, cost: 100 }, claim);
    drain(queue, 1);
  }
  t.ok(queue.flowCount < 500, `${queue.flowCount} flows`);
});
