import t from 'tap';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { checkJob } from '../../src/jobs/check-job.js';
import { exactVerifier, type Verifier } from '../../src/jobs/verifier.js';
import { type Behaviour, fakeEngine, resolution, stepping } from '../support/fake-engine.js';
import { type FakeClock, LIMITS, refusalOf, runJob, spike } from '../support/job.js';
import { DirectSession } from '../support/scenes.js';

type Check = 'findIntersections' | 'findDistances' | 'findMinDistance' | 'findContacts' | 'testPath';

/** The exact verifier, with a hook that is called within each check with its kind and its number among that kind. */
function watched(onCheck: (check: Check, count: number) => void): Verifier {
  const counts = { findIntersections: 0, findDistances: 0, findMinDistance: 0, findContacts: 0, testPath: 0 };
  const watch =
    <A extends unknown[], R>(check: Check, work: (...args: A) => R) =>
    (...args: A): R => {
      onCheck(check, ++counts[check]);
      return work(...args);
    };
  return {
    findIntersections: watch('findIntersections', exactVerifier.findIntersections),
    findDistances: watch('findDistances', exactVerifier.findDistances),
    findMinDistance: watch('findMinDistance', exactVerifier.findMinDistance),
    findContacts: watch('findContacts', exactVerifier.findContacts),
    testPath: watch('testPath', exactVerifier.testPath),
  };
}

/** A verifier in whose check the clock moves past every budget. */
const overrunning = (clock: FakeClock, check: Check, count = 1): Verifier =>
  watched((which, n) => {
    if (which === check && n === count) clock.time += 10_000;
  });

const withBudget = (onBudget: ResolveRequest['onBudget'], request = spike(1, 0.5)): ResolveRequest => ({
  ...request,
  timeBudgetSeconds: 1,
  ...(onBudget ? { onBudget } : {}),
});

const warningsOf = ({ warnings }: { readonly warnings: readonly { code: string; message: string }[] }) =>
  Object.fromEntries(warnings.map(({ code, message }) => [code, message]));

t.test('a budget that ends in the check of the start leaves nothing to return', async (t) => {
  for (const onBudget of ['RETURN_SAFE', 'FAIL'] as const) {
    const clock = { time: 0 };
    const engine = fakeEngine(stepping(1));
    const verifier = overrunning(clock, 'findIntersections');
    const error = await refusalOf(runJob(withBudget(onBudget), engine, { clock, verifier }));
    t.match(error, { code: 'DEADLINE_EXCEEDED', message: /while the start was checked/ });
    t.same(engine.opened, [], 'and nothing was begun');
  }
});

t.test('the tests of rounding and of touching are checks of the start', async (t) => {
  const rounded = spike(1, 0.5);
  const start = Float64Array.from(rounded.start, (value) => value + 0.1);
  const target = Float64Array.from(rounded.target, (value) => value + 0.1);
  for (const request of [
    { ...rounded, start, target },
    { ...rounded, parameters: { verify: 'PATH' as const } },
  ]) {
    const clock = { time: 0 };
    const engine = fakeEngine(stepping(1));
    const verifier = overrunning(clock, 'testPath');
    const error = await refusalOf(runJob(withBudget(undefined, request), engine, { clock, verifier }));
    t.match(error, { code: 'DEADLINE_EXCEEDED', message: /while the start was checked/ });
    t.same(engine.opened, []);
  }
});

t.test('RETURN_SAFE: a budget that ends in the check of the answer returns the start unchanged', async (t) => {
  const clock = { time: 0 };
  const request = withBudget('RETURN_SAFE');
  const verifier = overrunning(clock, 'findIntersections', 2);
  const { answer, findings } = await runJob(request, fakeEngine(stepping(4)), { clock, verifier });
  t.same(answer.positions, request.start);
  t.match(answer.report, {
    status: 'DEADLINE',
    residual: 1,
    unfinishedVertices: 3,
    verification: { performed: 'STATE', intersections: 0, fellBack: false },
  });
  t.same(answer.report.limitingPairs, [], 'those of the engine limit a state that is not sent');
  t.ok(answer.report.distanceToTargetMax > 0.49, 'the report is about what is sent');
  t.match(
    warningsOf(answer.report).BUDGET_SPENT_ON_CHECKS,
    /budget of 1 s ended while the outcome of 4 steps was tested/,
  );
  t.same(findings, [], 'nobody has found anything');
});

const figures = { rounds: 1, newtonIterations: 0, solverIterations: 0, volumes: 0, remainingPairs: 0 };

t.test('a motion that was made and is not sent is no motion', async (t) => {
  const impulses: Behaviour = (step) => ({
    ...resolution(step, step.y.slice(), 'CONVERGED', 1),
    impulses: { ...figures, motionShare: 1, shares: [1] },
  });
  const clock = { time: 0 };
  const verifier = overrunning(clock, 'findIntersections', 2);
  const { answer } = await runJob(withBudget('RETURN_SAFE'), fakeEngine(impulses), { clock, verifier });
  t.equal(answer.report.status, 'DEADLINE');
  t.same(answer.report.impulses, { ...figures, motionShare: 0 });
});

t.test('a shutdown whose last test did not end in time says that the answer is the start', async (t) => {
  const clock = { time: 0 };
  let [isEnding, tests] = [false, 0];
  const verifier = watched((check) => {
    if (check === 'findIntersections' && ++tests === 2) clock.time += 10_000;
  });
  const { answer } = await runJob(withBudget('RETURN_SAFE'), fakeEngine(stepping(4)), {
    ...{ clock, verifier, isEnding: () => isEnding },
    onProgress: ({ steps }) => {
      isEnding = steps === 2;
    },
  });
  t.same(answer.positions, withBudget('RETURN_SAFE').start);
  t.match(answer.report, { status: 'DEADLINE', steps: 2 });
  const { SERVER_SHUTS_DOWN: told } = warningsOf(answer.report);
  t.match(told, /^The server shuts down: the answer is the start, /);
});

t.test('RETURN_SAFE: a state whose test did not end is never sent, even if the engine pierces', async (t) => {
  const piercing: Behaviour = (step) => resolution(step, step.y.slice(), 'CONVERGED', 1);
  const request = withBudget('RETURN_SAFE', spike(1, 1.5));
  for (const verify of ['STATE', 'PATH'] as const) {
    const clock = { time: 0 };
    // Under PATH the first one is the test of touching, the second that of the piece.
    const check = verify === 'PATH' ? 'testPath' : 'findIntersections';
    const verifier = overrunning(clock, check, 2);
    const { answer } = await runJob({ ...request, parameters: { verify } }, fakeEngine(piercing), { clock, verifier });
    t.same(answer.positions, request.start);
    t.equal(answer.report.status, 'DEADLINE');
  }
});

t.test('RETURN_SAFE: a start that is sent in a narrower scalar was tested in that scalar', async (t) => {
  const clock = { time: 0 };
  const request = withBudget('RETURN_SAFE');
  const start = Float64Array.from(request.start, (value) => value + 1 / 3);
  const target = Float32Array.from(start, (value, k) => value + request.target[k]! - request.start[k]!);
  const late = overrunning(clock, 'findIntersections', 2);
  const tested: unknown[] = [];
  const verifier: Verifier = {
    ...late,
    testPath: (...piece) => {
      tested.push(piece[2]);
      return late.testPath(...piece);
    },
  };
  const { answer } = await runJob({ ...request, start, target }, fakeEngine(stepping(4)), { clock, verifier });
  t.equal(answer.report.status, 'DEADLINE');
  t.type(answer.positions, Float32Array);
  t.same(answer.positions, tested.at(-1), 'the end of the piece from the start to it');
  t.ok(answer.positions.every((value, k) => Math.abs(value - start[k]!) < 1e-6));
});

t.test('RETURN_SAFE: an engine whose piece is being tested as the budget ends is told to stop', async (t) => {
  const clock = { time: 0 };
  const request = { ...withBudget('RETURN_SAFE'), parameters: { verify: 'PATH' as const } };
  const verifier = overrunning(clock, 'testPath', 3);
  let taken = 0;
  const { answer } = await runJob(request, fakeEngine(stepping(100)), {
    clock,
    verifier,
    onProgress: ({ steps }) => {
      taken = steps;
    },
  });
  t.equal(taken, 2);
  t.same(answer.positions, request.start);
  t.equal(answer.report.status, 'DEADLINE');
});

t.test('FAIL: a budget that ends in the check of the answer, or of a piece, is refused there', async (t) => {
  for (const [check, verify] of [
    ['findIntersections', 'STATE'],
    ['testPath', 'PATH'],
  ] as const) {
    const clock = { time: 0 };
    const request = { ...withBudget('FAIL'), parameters: { verify } };
    const verifier = overrunning(clock, check, 2);
    const error = await refusalOf(runJob(request, fakeEngine(stepping(4)), { clock, verifier }));
    t.equal(error.code, 'DEADLINE_EXCEEDED');
  }
});

t.test('optional measurements are omitted when the budget ends in them, with a warning', async (t) => {
  const clock = { time: 0 };
  const request = { ...withBudget('RETURN_SAFE'), include: { contacts: true } };
  const verifier = overrunning(clock, 'findMinDistance');
  const { answer } = await runJob(request, fakeEngine(stepping(4)), { clock, verifier });
  t.equal(answer.report.status, 'CONVERGED');
  t.same(answer.positions, request.target);
  t.notOk('minDistance' in answer.report || 'contacts' in answer);
  t.same(Object.keys(warningsOf(answer.report)).sort(), ['CONTACTS_NOT_MEASURED', 'MIN_DISTANCE_NOT_MEASURED']);
  const late = { time: 0 };
  const hard = { ...withBudget('FAIL'), include: { contacts: true } };
  const error = await refusalOf(
    runJob(hard, fakeEngine(stepping(4)), { clock: late, verifier: overrunning(late, 'findContacts') }),
  );
  t.equal(error.code, 'DEADLINE_EXCEEDED');
});

t.test('a caller who goes away ends the running check', async (t) => {
  const request = { ...spike(1, 0.5), include: { contacts: true }, parameters: { verify: 'PATH' as const } };
  for (const [check, count] of [
    ['findIntersections', 1],
    ['testPath', 1],
    ['testPath', 2],
    ['findIntersections', 2],
    ['findMinDistance', 1],
    ['findContacts', 1],
  ] as const) {
    let isCancelled = false;
    const seen: string[] = [];
    const verifier = watched((which, n) => {
      seen.push(`${which} ${n}`);
      if (which === check && n === count) isCancelled = true;
    });
    const job = runJob(request, fakeEngine(stepping(4)), { verifier, isCancelled: () => isCancelled });
    t.equal((await refusalOf(job)).code, 'CANCELLED');
    t.equal(seen.at(-1), `${check} ${count}`, 'and no other check is begun');
  }
});

t.test('a check job can end in the middle of a check, too', async (t) => {
  const { mesh, start } = spike(0.5, 0);
  for (const check of ['findIntersections', 'findDistances', 'testPath'] as const) {
    let isCancelled = false;
    const seen: Check[] = [];
    const verifier = watched((which) => {
      seen.push(which);
      isCancelled = which === check;
    });
    const job = async () =>
      checkJob(
        { mesh, positions: start, pathEnd: spike(0.25, 0).start, reportPairsCloserThan: 1 },
        { limits: LIMITS, verifier, isCancelled: () => isCancelled },
      );
    t.equal((await refusalOf(job())).code, 'CANCELLED');
    t.equal(seen.at(-1), check);
  }
});

t.test('a session continues after a step whose answer was not tested in time', async (t) => {
  const clock = { time: 0 };
  let isLate = false;
  const verifier = watched((which) => {
    if (which === 'findIntersections' && isLate) clock.time += 10_000;
  });
  const { start } = spike(1, 0);
  const session = new DirectSession(spike(1, 0), fakeEngine(stepping(4)), { verifier, now: () => clock.time });
  await session.open();
  const moments = () => ({ receivedAt: clock.time, queuedAt: clock.time });
  isLate = true;
  const late = await session.step(spike(0.75, 0).start, { timeBudgetSeconds: 1, ...moments() });
  t.match(late.report, { status: 'DEADLINE' });
  t.same(late.positions, start);
  isLate = false;
  const next = await session.step(spike(0.75, 0).start, { timeBudgetSeconds: 1, ...moments() });
  t.match(next.report, { status: 'DEADLINE', steps: 0 }, 'time is kept back for a test that is known to take so long');
  const free = await session.step(spike(0.75, 0).start, moments());
  t.equal(free.report.status, 'CONVERGED');
  t.same(free.positions, spike(0.75, 0).start);
});
