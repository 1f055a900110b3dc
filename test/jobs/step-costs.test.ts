import t from 'tap';
import { StepCosts } from '../../src/jobs/step-costs.js';

t.test('before any measurement all estimates follow from the test of the start', async (t) => {
  const costs = new StepCosts();
  t.same(costs.answerFor(1), { check: 0, finish: 0, distances: 0 });
  costs.noteCheck(100);
  t.same(costs.answerFor(1), { check: 100, finish: 25, distances: 130 });
  t.equal(costs.needed, undefined, 'no step has been made');
});

t.test('an estimate is the median of the last three measurements', async (t) => {
  const costs = new StepCosts();
  for (const ms of [1000, 100, 120]) costs.noteCheck(ms);
  t.equal(costs.answerFor(1).check, 120, 'one that took long by accident does not count');
  costs.noteCheck(90);
  t.equal(costs.answerFor(1).check, 100);
  costs.noteFinish(7);
  costs.noteDistances(50);
  t.match(costs.answerFor(1), { finish: 7, distances: 50 });
});

t.test('if few vertices may move, only a part of the time of a test is reserved', async (t) => {
  const costs = new StepCosts();
  costs.noteCheck(100);
  t.equal(costs.answerFor(0.1).check, 20);
  t.equal(costs.answerFor(0.5).check, 100);
  t.equal(costs.answerFor(0).check, 0);
});

t.test(
  'a test that was stopped twice counts with its time so far, and an estimate that leaves no time for a step shrinks',
  async (t) => {
    const costs = new StepCosts();
    costs.noteCheck(100);
    costs.noteCheckCutShort(40);
    t.equal(costs.answerFor(1).check, 100);
    costs.noteCheckCutShort(300);
    t.equal(costs.answerFor(1).check, 100, 'once may be an accident');
    costs.noteCheckCutShort(300);
    t.equal(costs.answerFor(1).check, 300);
    for (let n = 0; n < 10; n++) costs.relax();
    t.ok(costs.answerFor(1).check < 10);
  },
);

t.test(
  'the budget that a frame needs covers a search, a step, a test and the report, even if the search took several frames',
  async (t) => {
    const costs = new StepCosts();
    costs.noteCheck(100);
    costs.noteFinish(10);
    costs.noteRun(0, 80, 0, 0);
    costs.noteRun(0, 80, 0, 0);
    costs.noteRun(1, 40, 0, 5);
    t.equal(costs.needed, undefined);
    costs.noteRun(0, 0, 2, 60);
    t.equal(costs.needed, 200 + 30 + 100 + 10);
  },
);
