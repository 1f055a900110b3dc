import t from 'tap';
import { MOST_ROUNDS, PHASE } from '../../../gpu/kernels/constants.js';
import { ROUND_ROWS } from '../../../gpu/step/request.js';
import { SweepPlan } from '../../../gpu/step/sweep-plan.js';

const done = (wideRounds: number, firstTail = 0) => ({
  ...{
    wideRounds,
    wideOrdering: 0,
    firstTail,
    candidates: 0,
    mostContacts: 1000 * wideRounds,
    sweptEnds: 1000,
    sweptEdges: 0,
  },
});

/** Vertices of a mesh whose sweeps may have long rounds, and of a mesh whose sweeps have none. */
const MANY = 1_000_000;
const FEW = 5000;

t.test(
  'A first step with many candidates pauses for its rounds, and later steps record as many as they need.',
  async (t) => {
    const plan = new SweepPlan(MANY);
    plan.begin();
    const { covered } = plan;
    t.equal(plan.rounds, 0, 'no rounds are recorded without need');
    t.ok(covered > 8 * ROUND_ROWS && covered < 1000 * ROUND_ROWS, `${covered} candidates`);
    plan.extend(2 * covered);
    t.ok(plan.rounds >= 16, `${plan.rounds} rounds`);
    t.ok(plan.covered >= 2 * covered, 'the step does not pause again');
    plan.observe(done(40), 1);
    t.ok(plan.rounds >= 40 && plan.rounds <= 50, `${plan.rounds} rounds for 40`);
    t.ok(plan.covered >= 2 * covered, 'nor does the next one with as many');
    t.ok(plan.covered < 20 * covered, 'ten times as many need more rounds');
    plan.observe(done(0), 1);
    t.strictSame([plan.rounds, plan.covered], [0, covered], 'few contacts need no whole dispatch');
  },
);

t.test('A small mesh has no long rounds, however many candidates it has.', async (t) => {
  const plan = new SweepPlan(FEW);
  plan.begin();
  t.ok(plan.covered >= 1e9, 'no step pauses');
  plan.extend(1e7);
  t.equal(plan.wide.rounds, 0);
});

t.test('More candidates get more rounds.', async (t) => {
  let last = 0;
  for (const more of [1.1, 4, 20]) {
    const plan = new SweepPlan(MANY);
    plan.begin();
    plan.extend(more * plan.covered);
    t.ok(plan.rounds > last, `${plan.rounds} rounds`);
    last = plan.rounds;
  }
});

t.test('Each thread of a round sweeps several contacts.', async (t) => {
  const plan = new SweepPlan(MANY);
  plan.observe({ ...done(40), mostContacts: 200_000 }, 1);
  const { rounds, threads } = plan.wide;
  t.ok(rounds >= 40 && rounds <= 50);
  t.ok(threads >= 2000 && threads <= 200_000, `${threads} threads`);
  plan.observe({ ...done(4000), mostContacts: 4e9 }, 1);
  t.ok(plan.wide.rounds <= MOST_ROUNDS && plan.wide.threads <= 1 << 17, 'there are limits');
});

t.test('A request begins with the rounds of the first step of the last one.', async (t) => {
  const plan = new SweepPlan(MANY);
  plan.begin();
  plan.extend(2 * plan.covered);
  plan.observe(done(40), 1);
  plan.observe(done(0), 1);
  plan.begin();
  t.ok(plan.rounds >= 40);
  plan.observe(done(0), 1);
  plan.begin();
  t.equal(plan.rounds, 0);
});

t.test('Candidates of which few become contacts do not pause every step.', async (t) => {
  const plan = new SweepPlan(MANY);
  plan.begin();
  const candidates = 3 * plan.covered;
  plan.extend(candidates);
  plan.observe(done(0), 1);
  t.ok(plan.covered >= candidates);
  t.ok(plan.covered < 2 * candidates, 'many more do');
});

t.test('Edges are swept in whole dispatches until a step of the pull-back shows that few act.', async (t) => {
  const plan = new SweepPlan(MANY);
  t.equal(plan.hasDenseEdges, true);
  plan.observe(done(0), 1);
  t.equal(plan.hasDenseEdges, true, 'a step of Algorithm 1 does not show it');
  plan.enterPullBack(PHASE.PULL, 1e6, undefined);
  plan.observe(done(0), 1);
  t.equal(plan.hasDenseEdges, false);
  plan.observe(done(0, 3), 1);
  t.equal(plan.hasDenseEdges, true);
});

t.test('The first step of the pull-back relies on what Algorithm 1 has swept.', async (t) => {
  const ended = (steps: number, sweptEdges: number, candidates = 100) => ({ steps, sweptEdges, candidates });
  const guess = (edges: number, last: ReturnType<typeof ended> | undefined) => {
    const plan = new SweepPlan(MANY);
    plan.begin();
    plan.enterPullBack(PHASE.PULL, edges, last);
    return [plan.hasDenseEdges, plan.hasFewEnds];
  };
  t.strictSame(guess(1e6, ended(5, 100)), [false, true]);
  t.strictSame(guess(1e6, ended(5, 5000)), [false, false], 'lists, but no single workgroup');
  t.strictSame(guess(1e6, ended(5, 100, 10_000)), [false, false], 'many contacts');
  t.strictSame(guess(1e6, ended(5, 100_000)), [true, false]);
  t.strictSame(guess(1e6, undefined), [true, false], 'nothing is known');
  t.strictSame(guess(1e6, ended(0, 0)), [true, false], 'no step was done');
  t.strictSame(guess(2000, undefined), [false, true], 'so few edges fit in any case');
  const plan = new SweepPlan(MANY, { rounds: true, lists: false });
  plan.enterPullBack(PHASE.PULL, 2000, undefined);
  t.equal(plan.hasDenseEdges, true, 'the device has not proven lists');
});

t.test('One workgroup sweeps if few edges and contacts act.', async (t) => {
  const plan = new SweepPlan(MANY);
  t.equal(plan.hasFewEnds, false, 'nothing is known yet');
  plan.observe(done(0), 1);
  t.equal(plan.hasFewEnds, false, 'a step of Algorithm 1 does not show it');
  plan.enterPullBack(PHASE.PULL, 1e6, undefined);
  plan.observe(done(0), 1);
  t.equal(plan.hasFewEnds, true);
  plan.observe({ ...done(0), sweptEnds: 1e6, sweptEdges: 0 }, 1);
  t.equal(plan.hasFewEnds, false, 'many act');
  plan.observe(done(0, 3), 1);
  t.equal(plan.hasFewEnds, false, 'whole dispatches sweep a colour');
});

t.test('Edges are listed until a step of the request has many.', async (t) => {
  const plan = new SweepPlan(MANY);
  plan.begin();
  t.equal(plan.hasFewEdges, true, 'the first step lists them and counts how many act');
  plan.observe({ ...done(0), sweptEdges: 100 }, 1);
  t.equal(plan.hasFewEdges, true);
  plan.observe({ ...done(0), sweptEdges: 100_000 }, 1);
  t.equal(plan.hasFewEdges, false);
  plan.observe(done(0), 1);
  t.equal(plan.hasFewEdges, false, 'whole dispatches do not count how many act');
  plan.begin();
  t.equal(plan.hasFewEdges, true, 'in the first step of the last request few acted');
});

t.test(
  'After a request whose first step has many edges, the next requests do not list edges, and a later one tries again.',
  async (t) => {
    const plan = new SweepPlan(MANY);
    const many = { ...done(0), sweptEdges: 100_000 };
    plan.begin();
    plan.observe(many, 1);
    const tried: number[] = [];
    for (let request = 1; request <= 20; request++) {
      plan.begin();
      if (plan.hasFewEdges) tried.push(request);
      plan.observe(plan.hasFewEdges ? many : done(0), 1);
    }
    t.equal(tried.length, 2, `tried again in requests ${tried.join()}`);
    t.ok(tried[0]! > 4 && tried[1]! - tried[0]! === tried[0]!);
    while (!plan.hasFewEdges) plan.begin();
    plan.observe({ ...done(0), sweptEdges: 10 }, 1);
    for (let request = 0; request < 3; request++) {
      plan.begin();
      t.equal(plan.hasFewEdges, true, 'few act again');
      plan.observe({ ...done(0), sweptEdges: 10 }, 1);
    }
  },
);

t.test('One workgroup selects few contacts, and a step with more candidates pauses.', async (t) => {
  const plan = new SweepPlan(FEW, undefined, true);
  const has = (candidates: number): boolean => {
    plan.observe({ ...done(0), candidates }, 1);
    return plan.hasFewCandidates;
  };
  plan.begin();
  t.equal(plan.hasFewCandidates, false, 'nothing is known of a first step');
  t.ok(plan.covered >= 1e9, 'and the step does not pause for its candidates');
  t.equal(has(100_000), false);
  t.equal(has(100), true);
  const { covered } = plan;
  t.ok(covered >= 1000 && covered <= 10_000, `a step of more than ${covered} candidates pauses`);
  plan.extend(2 * covered);
  t.equal(plan.hasFewCandidates, false, 'and continues without that workgroup');
  t.ok(plan.covered >= 1e9);
  t.equal(has(2 * covered), false);
  t.equal(has(covered), false, 'the next step may have more');
  t.equal(has(100), true);
  plan.begin();
  t.equal(plan.hasFewCandidates, false, 'the first step of the last request had many');
  has(100);
  plan.begin();
  t.equal(plan.hasFewCandidates, true, 'or few');
});

t.test('A device without the kernel selects contacts in whole dispatches.', async (t) => {
  const plan = new SweepPlan(FEW);
  plan.begin();
  plan.observe({ ...done(0), candidates: 1 }, 1);
  t.equal(plan.hasFewCandidates, false);
  t.ok(plan.covered >= 1e9);
});

t.test('Sweeps of the pull-back have as many rounds as colours, which are found in more.', async (t) => {
  const plan = new SweepPlan(MANY);
  plan.begin();
  plan.observe({ ...done(80), mostContacts: 200_000 }, 1);
  const { rounds, ordering } = plan.wide;
  t.equal(ordering, rounds, 'in Algorithm 1 the first sweep finds the rounds');
  plan.enterPullBack(PHASE.PULL, 1e6, undefined);
  t.ok(plan.wide.rounds >= 24 && plan.wide.rounds < 40, `${plan.wide.rounds} colours are expected`);
  t.equal(plan.wide.ordering, ordering, 'the same contacts are found in as many rounds');
  plan.observe({ ...done(30), wideOrdering: 70, mostContacts: 200_000 }, 1);
  t.ok(plan.wide.rounds >= 30 && plan.wide.rounds < 40, `${plan.wide.rounds} rounds`);
  t.ok(plan.wide.ordering >= 70 && plan.wide.ordering < 90, `${plan.wide.ordering} rounds of the colouring`);
  const { covered } = plan;
  t.ok(covered > 200_000, 'the next step does not pause for as many contacts');
  plan.extend(8 * covered);
  t.ok(plan.covered >= 8 * covered, 'nor does one that has paused');
  t.ok(plan.wide.rounds < 40 && plan.wide.ordering > plan.wide.rounds);
});

t.test('Few contacts of the pull-back have no long rounds.', async (t) => {
  const plan = new SweepPlan(MANY);
  plan.begin();
  plan.observe({ ...done(2), mostContacts: 10_000 }, 1);
  plan.enterPullBack(PHASE.PULL, 1e6, undefined);
  t.equal(plan.wide.rounds, 0);
});

t.test('A request that begins with the pull-back, as the last one did, begins with its rounds.', async (t) => {
  const plan = new SweepPlan(MANY);
  for (const _ of [0, 1]) {
    plan.begin();
    plan.enterPullBack(PHASE.PULL, 1e6, undefined);
    plan.observe({ ...done(30), wideOrdering: 70, mostContacts: 200_000 }, 1);
  }
  plan.begin();
  plan.enterPullBack(PHASE.PULL, 1e6, undefined);
  t.ok(plan.wide.rounds >= 30 && plan.wide.ordering >= 70);
});

t.test('Each phase begins with as few candidates as its first step had in the last request.', async (t) => {
  const plan = new SweepPlan(FEW, undefined, true);
  const few = { ...done(0), candidates: 100 };
  const request = (many: number): boolean[] => {
    plan.begin();
    const expected = [plan.hasFewCandidates];
    plan.observe(few, 1);
    plan.enterPullBack(PHASE.PULL, 1000, undefined);
    expected.push(plan.hasFewCandidates);
    if (plan.covered < many) plan.extend(many);
    plan.observe({ ...done(0), candidates: many }, 1);
    return expected;
  };
  t.strictSame(request(5000), [false, false], 'nothing is known of a first request');
  t.strictSame(request(5000), [true, false], 'the pull-back had many');
  t.strictSame(request(100), [true, false]);
  t.strictSame(request(100), [true, true], 'now it had few');
  t.strictSame(request(5000), [true, true], 'so that this step pauses');
  t.strictSame(request(5000), [true, false]);
});

t.test('Of several steps at once, only a pause shows what the first one had.', async (t) => {
  const plan = new SweepPlan(FEW, undefined, true);
  plan.begin();
  plan.observe({ ...done(0), candidates: 100 }, 2);
  t.equal(plan.hasFewCandidates, true, 'the last one had few');
  plan.begin();
  t.equal(plan.hasFewCandidates, false, 'the first one may have had many');
  plan.observe({ ...done(0), candidates: 100 }, 1);
  plan.begin();
  t.equal(plan.hasFewCandidates, true);
  plan.extend(5000);
  plan.observe({ ...done(0), candidates: 100 }, 2);
  plan.begin();
  t.equal(plan.hasFewCandidates, false, 'it has paused');
});

t.test('The shortening of edges sweeps like the last step of the pull-back.', async (t) => {
  const plan = new SweepPlan(MANY);
  const many = { ...done(0), sweptEdges: 10_000 };
  plan.begin();
  plan.observe(many, 1);
  plan.enterPullBack(PHASE.PULL, 1e6, { steps: 1, sweptEdges: 10_000, candidates: 0 });
  t.equal(plan.hasFewEnds, false, 'Algorithm 1 has swept many edges');
  plan.observe(many, 1);
  t.equal(plan.hasFewEnds, true, 'of which few act');
  plan.enterPullBack(PHASE.SHORTEN, 1e6, { steps: 1, sweptEdges: 10_000, candidates: 0 });
  t.equal(plan.hasFewEnds, true);
});
