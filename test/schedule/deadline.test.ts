import t from 'tap';
import { Deadline } from '../../src/schedule/deadline.js';
import type { ResolveRequest } from '../../src/session/types.js';
import { type Behaviour, fakeEngine, stepping } from '../support/fake-engine.js';
import { type FakeClock, refusalOf, runJob, spike } from '../support/job.js';

t.test('without a budget nothing is ever due', async (t) => {
  const deadline = new Deadline(undefined, 'FAIL', 0, () => 1e15);
  t.notOk(deadline.isDue());
  t.doesNotThrow(() => deadline.refuseIfOver('here'));
});

t.test('time is kept back for a further step and for the verification', async (t) => {
  let now = 0;
  const deadline = new Deadline(1, 'RETURN_SAFE', 0, () => now);
  deadline.reserveAfter(100); // 300 ms for what follows
  now = 600;
  t.notOk(deadline.isDue());
  now = 650; // the step took 50 ms: 650 + 50 + 300 = the budget
  t.ok(deadline.isDue());
});

t.test('the longest recent step counts, not the last', async (t) => {
  let now = 0;
  const deadline = new Deadline(1, 'RETURN_SAFE', 0, () => now);
  deadline.isDue();
  now = 400;
  t.notOk(deadline.isDue());
  now = 401;
  t.notOk(deadline.isDue());
  now = 600;
  t.ok(deadline.isDue());
});

t.test('a long step is forgotten after four shorter ones', async (t) => {
  let now = 0;
  const deadline = new Deadline(1, 'RETURN_SAFE', 0, () => now);
  deadline.isDue();
  now = 500;
  t.ok(deadline.isDue(), 'another 500 ms would be too much');
  for (now = 510; now < 550; now += 10) deadline.isDue();
  t.notOk(deadline.isDue(), 'the 500 ms at the start no longer count');
});

t.test('FAIL keeps nothing back', async (t) => {
  let now = 0;
  const deadline = new Deadline(1, 'FAIL', 0, () => now);
  deadline.reserveAfter(500);
  deadline.isDue();
  now = 999;
  t.notOk(deadline.isDue());
  now = 1000;
  t.ok(deadline.isDue());
});

/** Each step takes 100 ms of the clock. */
const ticking =
  (clock: FakeClock): Behaviour =>
  (step, scene) =>
    stepping(10)(
      {
        ...step,
        onState: (x) => {
          clock.time += 100;
          step.onState?.(x);
        },
      },
      scene,
    );

const budgeted = (onBudget: ResolveRequest['onBudget'], timeBudgetSeconds = 0.45): ResolveRequest => ({
  ...spike(1, 0.5),
  timeBudgetSeconds,
  ...(onBudget ? { onBudget } : {}),
});

t.test('RETURN_SAFE: the state reached in time, with status DEADLINE', async (t) => {
  const clock = { time: 0 };
  const { answer } = await runJob(budgeted(undefined), fakeEngine(ticking(clock)), { clock });
  t.equal(answer.report.status, 'DEADLINE');
  t.equal(answer.report.steps, 4, 'a fifth step would have ended at 500 ms');
  t.ok(Math.abs(answer.positions[11]! - 0.8) < 1e-6);
  t.notOk(answer.report.verification.fellBack);
  t.equal(answer.report.timings.total, 400_000);
});

t.test('RETURN_SAFE: a start check that ate the budget leaves the start', async (t) => {
  const clock = { time: 0 };
  const request = budgeted('RETURN_SAFE');
  const engine = fakeEngine(stepping(10));
  const open = engine.open.bind(engine);
  engine.open = async (...all) => {
    clock.time = 1000;
    return open(...all);
  };
  const { answer } = await runJob(request, engine, { clock });
  t.match(answer.report, { status: 'DEADLINE', steps: 0 });
  t.same(answer.positions, request.start);
});

t.test('FAIL: nothing changed', async (t) => {
  const clock = { time: 0 };
  const error = await refusalOf(runJob(budgeted('FAIL'), fakeEngine(ticking(clock)), { clock }));
  t.equal(error.code, 'DEADLINE_EXCEEDED');
  const enough = { time: 0 };
  const { answer } = await runJob(budgeted('FAIL', 1.1), fakeEngine(ticking(enough)), { clock: enough });
  t.equal(answer.report.status, 'CONVERGED');
});

t.test('a budget spent in the queue is refused whatever was asked', async (t) => {
  for (const onBudget of ['RETURN_SAFE', 'FAIL'] as const) {
    const engine = fakeEngine(stepping(1));
    const error = await refusalOf(runJob(budgeted(onBudget), engine, { clock: { time: 450 } }));
    t.equal(error.code, 'DEADLINE_EXCEEDED');
    t.match(error.message, /in the queue/);
    t.same(engine.opened, []);
  }
});
