import t from 'tap';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { Deadline } from '../../src/jobs/deadline.js';
import { exactVerifier, type Verifier } from '../../src/jobs/verifier.js';
import { type Behaviour, fakeEngine, resolution, stepping } from '../support/fake-engine.js';
import { type FakeClock, refusalOf, runJob, spike } from '../support/job.js';
import { DirectSession } from '../support/scenes.js';

t.test('without a budget no deadline ever passes', async (t) => {
  const deadline = new Deadline(undefined, 'FAIL', 0, () => 1e15);
  t.notOk(deadline.isDue());
  t.doesNotThrow(() => deadline.refuseIfOver('here'));
});

t.test('time is reserved for a further step and for the verification', async (t) => {
  let now = 0;
  const deadline = new Deadline(1, 'RETURN_SAFE', 0, () => now);
  deadline.keepBack({ check: 100, finish: 70, distances: 130 }); // 300 ms for what follows
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

t.test('FAIL reserves no time', async (t) => {
  let now = 0;
  const deadline = new Deadline(1, 'FAIL', 0, () => now);
  deadline.keepBack({ check: 500, finish: 350, distances: 650 });
  deadline.isDue();
  now = 999;
  t.notOk(deadline.isDue());
  now = 1000;
  t.ok(deadline.isDue());
});

t.test('an answer that has not moved needs no test, and the time for it goes to the search', async (t) => {
  let now = 0;
  const deadline = new Deadline(1, 'RETURN_SAFE', 0, () => now);
  deadline.keepBack({ check: 600, finish: 50, distances: 700 });
  t.equal(deadline.timeLeft(), 350);
  t.equal(deadline.searchTimeLeft(true), 950);
  t.equal(deadline.searchTimeLeft(false), 350);
  now = 300;
  t.equal(deadline.searchTimeLeft(true), 650);
  t.same(deadline.keptBack, { check: 600, finish: 50, distances: 0 }, 'nothing is kept back for what is optional');
});

t.test('the time of a search does not count as that of a step', async (t) => {
  let now = 0;
  const deadline = new Deadline(1, 'RETURN_SAFE', 0, () => now);
  t.notOk(deadline.isDue());
  now = 700;
  deadline.searchTimeLeft(false);
  now = 750;
  t.notOk(deadline.isDue(), 'the step itself took 50 ms, so another one ends at 800');
});

t.test(
  'time for the smallest distance is reserved if everything after the last step takes less than half of the rest',
  async (t) => {
    const deadline = new Deadline(1, 'RETURN_SAFE', 0, () => 0);
    deadline.keepBack({ check: 200, finish: 50, distances: 250 });
    t.same(deadline.keptBack, { check: 200, finish: 50, distances: 250 });
    deadline.keepBack({ check: 200, finish: 50, distances: 251 });
    t.same(deadline.keptBack, { check: 200, finish: 50, distances: 0 });
    t.notOk(deadline.hadNoRoom);
    deadline.keepBack({ check: 950, finish: 50, distances: 251 });
    t.ok(deadline.hadNoRoom);
  },
);

t.test('the test of an answer may be late by an eighth of the budget, but not at all under FAIL', async (t) => {
  let now = 0;
  const safe = new Deadline(0.8, 'RETURN_SAFE', 0, () => now);
  const hard = new Deadline(0.8, 'FAIL', 0, () => now);
  now = 899;
  t.doesNotThrow(() => safe.refuseIfLate('here'));
  t.throws(() => hard.refuseIfLate('here'), { code: 'DEADLINE_EXCEEDED' });
  now = 900;
  t.throws(() => safe.refuseIfLate('here'), { code: 'DEADLINE_EXCEEDED' });
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

t.test('a report says when other work used the cores during the budget', async (t) => {
  for (const share of [0.05, 0.5]) {
    const clock = { time: 0 };
    // Before the job the thread had waited for two seconds already.
    const coreWaitMs = () => 2000 + share * clock.time;
    const { answer } = await runJob(budgeted(undefined), fakeEngine(ticking(clock)), { clock, coreWaitMs });
    const warnings = answer.report.warnings.filter(({ code }) => code === 'CORES_WERE_BUSY');
    t.equal(answer.report.status, 'DEADLINE');
    t.match(
      warnings.map(({ message }) => message),
      share > 0.1 ? [/^For 0\.200 s of the time budget of 0\.45 s other work/] : [],
    );
  }
});

t.test('a job that is asked to end returns the state reached so far, or says that the server shuts down', async (t) => {
  for (const onBudget of ['RETURN_SAFE', 'FAIL'] as const) {
    const clock = { time: 0 };
    const isEnding = () => clock.time >= 300;
    const work = runJob(budgeted(onBudget, 60), fakeEngine(ticking(clock)), { clock, isEnding });
    if (onBudget === 'FAIL') {
      t.equal((await refusalOf(work)).code, 'DRAINING');
    } else {
      const { report } = (await work).answer;
      t.match(report, { status: 'DEADLINE', steps: 3, warnings: [{ code: 'SERVER_SHUTS_DOWN' }] });
    }
  }
});

t.test('RETURN_SAFE: if the check of the start uses up the budget, the start is the answer', async (t) => {
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

t.test('RETURN_SAFE: a step is abandoned if the rest of the budget is needed for the work after it', async (t) => {
  const clock = { time: 0 };
  const verifier = slow(clock, { state: 50, distances: 0 });
  // One endless step, in which an hour passes unless it is abandoned.
  const endless: Behaviour = (step) => {
    while (clock.time < 3_600_000) {
      clock.time += 10;
      if (step.timeLeft!() <= 0) return resolution(step, step.x.slice(), 'DEADLINE', 0);
    }
    return resolution(step, step.y.slice(), 'CONVERGED', 1);
  };
  const { answer } = await runJob(budgeted('RETURN_SAFE'), fakeEngine(endless), { clock, verifier });
  t.match(answer.report, { status: 'DEADLINE', steps: 0 });
  t.equal(clock.time, 390, '62.5 of 450 ms are kept back: 1.25 times what the test of the start took');
  const hard = { time: 0 };
  const error = await refusalOf(
    runJob(
      budgeted('FAIL'),
      fakeEngine((step) => {
        hard.time = 450;
        return resolution(step, step.x.slice(), step.timeLeft!() <= 0 ? 'DEADLINE' : 'STALLED', 0);
      }),
      { clock: hard },
    ),
  );
  t.equal(error.code, 'DEADLINE_EXCEEDED');
});

/** The exact verifier, each of whose tests advances the clock. */
function slow(clock: FakeClock, ms: { readonly state: number; readonly distances: number }): Verifier {
  const { findIntersections, findMinDistance } = exactVerifier;
  return {
    ...exactVerifier,
    findIntersections: (...state) => {
      clock.time += ms.state;
      return findIntersections(...state);
    },
    findMinDistance: (...state) => {
      clock.time += ms.distances;
      return findMinDistance(...state);
    },
  };
}

t.test('RETURN_SAFE: the report says how long the checks took, and optional measurements are omitted', async (t) => {
  const clock = { time: 0 };
  const request = budgeted('RETURN_SAFE');
  const verifier = slow(clock, { state: 400, distances: 520 });
  const { answer } = await runJob(request, fakeEngine(ticking(clock)), { clock, verifier });
  const { report } = answer;
  t.match(report, { status: 'DEADLINE', steps: 0 });
  t.same(answer.positions, request.start);
  t.equal(clock.time, 400, 'the check of the start alone: the start needs no second one, its distances are excluded');
  t.equal(report.timings.verify, 400_000);
  t.equal(report.minDistance, undefined);
  const messages = Object.fromEntries(report.warnings.map(({ code, message }) => [code, message]));
  t.match(messages.BUDGET_SPENT_ON_CHECKS, /budget of 0\.45 s.*checking the start 0\.400 s/);
  t.match(messages.MIN_DISTANCE_NOT_MEASURED, /0\.45 s/);
});

t.test('RETURN_SAFE: steps have priority over the smallest distance, and the answer is tested in time', async (t) => {
  const clock = { time: 0 };
  const verifier = slow(clock, { state: 100, distances: 130 });
  const { answer } = await runJob(budgeted('RETURN_SAFE', 0.39), fakeEngine(ticking(clock)), { clock, verifier });
  t.match(answer.report, { status: 'DEADLINE', steps: 1, minDistance: undefined });
  t.same(
    answer.report.warnings.map(({ code }) => code),
    ['MIN_DISTANCE_NOT_MEASURED'],
  );
  t.equal(clock.time, 300, 'checked, one step, checked');
  const more = { time: 0 };
  const measured = await runJob(budgeted('RETURN_SAFE', 0.75), fakeEngine(ticking(more)), {
    clock: more,
    verifier: slow(more, { state: 100, distances: 130 }),
  });
  t.equal(measured.answer.report.status, 'DEADLINE');
  t.same(measured.answer.report.warnings, [], 'with time for all of it nothing is excluded');
  const steps = measured.answer.report.steps;
  t.equal(more.time, 100 + 100 * steps + 100 + 130);
  t.ok(steps > 0 && more.time <= 750);
});

t.test('a budget that was spent before anything is known to be safe is refused before the long check', async (t) => {
  const clock = { time: 0 };
  const verifier = slow(clock, { state: 400, distances: 0 });
  const request = budgeted('RETURN_SAFE');
  const late: ResolveRequest = {
    ...request,
    get parameters() {
      clock.time = 450;
      return request.parameters;
    },
  };
  const error = await refusalOf(runJob(late, fakeEngine(stepping(1)), { clock, verifier }));
  t.match(error, { code: 'DEADLINE_EXCEEDED', message: /before the start was checked/ });
  t.equal(clock.time, 450);
});

t.test('FAIL: a job that exceeds its budget is refused', async (t) => {
  const clock = { time: 0 };
  const error = await refusalOf(runJob(budgeted('FAIL'), fakeEngine(ticking(clock)), { clock }));
  t.equal(error.code, 'DEADLINE_EXCEEDED');
  const enough = { time: 0 };
  const { answer } = await runJob(budgeted('FAIL', 1.1), fakeEngine(ticking(enough)), { clock: enough });
  t.equal(answer.report.status, 'CONVERGED');
});

t.test('a budget spent in the queue is refused under RETURN_SAFE and FAIL', async (t) => {
  for (const onBudget of ['RETURN_SAFE', 'FAIL'] as const) {
    const engine = fakeEngine(stepping(1));
    const error = await refusalOf(runJob(budgeted(onBudget), engine, { clock: { time: 450 } }));
    t.equal(error.code, 'DEADLINE_EXCEEDED');
    t.match(error.message, /on the way to the engine, the queue included/);
    t.same(engine.opened, []);
  }
});

t.test(
  'frames with a budget of less than two tests of a state move, and the report states the reserved time',
  async (t) => {
    const clock = { time: 0 };
    const { start, target } = spike(1, 0.5);
    // The engine searches in pieces of 30 ms, 120 ms in all, and keeps what it has found; a step takes 40 ms.
    let found = 0;
    const searching: Behaviour = (step) => {
      while (found < 4) {
        if (step.searchTimeLeft!() <= 0) return resolution(step, step.x.slice(), 'DEADLINE', 0);
        clock.time += 30;
        found++;
      }
      const x = step.x.slice();
      for (let n = 0; ; n++) {
        if (step.shouldStop!()) return resolution(step, x, 'DEADLINE', n);
        if (step.timeLeft!() <= 40) return resolution(step, x, 'DEADLINE', n);
        clock.time += 40;
        x.forEach((value, k) => {
          x[k] = value + (step.y[k]! - value) / 2;
        });
        step.onState?.(x);
      }
    };
    const verifier = slow(clock, { state: 100, distances: 130 });
    const session = new DirectSession(
      { ...spike(1, 0.5) },
      { ...fakeEngine(searching), hasCheapStates: true },
      { verifier, now: () => clock.time },
    );
    await session.open();
    const heights: number[] = [];
    for (let frame = 0; frame < 6; frame++) {
      const begun = clock.time;
      const answer = await session.step(target, { timeBudgetSeconds: 0.2, receivedAt: begun, queuedAt: begun });
      heights.push(answer.positions[11]!);
      t.ok(clock.time - begun <= 225, `frame ${frame} took ${clock.time - begun} of 200 ms`);
      t.match(answer.report.budget, { grantedUs: 200_000, keptForMinDistanceUs: 0 });
      if (frame === 0) t.equal(answer.report.budget!.keptForTestUs, 100_000);
    }
    t.equal(heights[0], start[11], 'the first frame searches');
    for (let n = 1; n < heights.length; n++) t.ok(heights[n]! < heights[n - 1]!, `frame ${n} moves`);
  },
);
