import t from 'tap';
import { costOfStep, PoorSteps } from '../../../src/solver/cpu/poor-steps.js';
import { cheapPairsOf, comfortablePairs } from '../../../src/solver/pair-budget.js';

const PLAN = { minGain: 0.01, isEarly: true };
const CHEAP = { gain: 0.02, cost: 1, isLeaping: false, isHeld: false };

/** How the phase ends with the first step that ends it, and after how many. */
function endOf(steps: readonly Parameters<PoorSteps['after']>[0][], plan = PLAN) {
  const poor = new PoorSteps(plan);
  for (const [n, step] of steps.entries()) {
    const ended = poor.after(step);
    if (ended) return { ended, steps: n + 1 };
  }
  return undefined;
}

const repeated = (step: Parameters<PoorSteps['after']>[0], times = 20) => Array.from({ length: times }, () => step);

t.test('three poor steps in a row end the phase, more where a box holds a vertex', async (t) => {
  t.equal(endOf(repeated(CHEAP)), undefined, 'steps that gain go on');
  t.same(endOf(repeated({ ...CHEAP, gain: 0.009 })), { ended: 'CONVERGED', steps: 3 });
  t.same(endOf(repeated({ ...CHEAP, gain: -1, isHeld: true })), { ended: 'STALLED', steps: 8 });
  const poor = { ...CHEAP, gain: 0 };
  t.same(endOf([poor, poor, CHEAP, poor, poor, poor]), { ended: 'CONVERGED', steps: 6 }, 'a good step counts anew');
});

t.test('a step that costs more must gain as much more', async (t) => {
  t.equal(endOf(repeated({ ...CHEAP, cost: 2 })), undefined, 'twice the gain for twice the cost');
  t.same(endOf(repeated({ ...CHEAP, cost: 2.1 })), { ended: 'CONVERGED', steps: 3 });
  t.same(
    endOf(repeated({ ...CHEAP, cost: 2.1, isHeld: true })),
    { ended: 'STALLED', steps: 3 },
    'new boxes are no larger',
  );
});

t.test('a vertex that travels keeps the phase going, unless targets are scattered', async (t) => {
  const leaping = { ...CHEAP, gain: 1e-6, isLeaping: true };
  t.equal(endOf(repeated(leaping)), undefined);
  t.same(endOf(repeated({ ...leaping, gain: 0 })), { ended: 'CONVERGED', steps: 3 }, 'if anything is gained');
  t.same(endOf(repeated(leaping), { ...PLAN, isEarly: false }), { ended: 'CONVERGED', steps: 3 });
});

t.test('a step costs more only with more pairs than boxes without a leap may have', async (t) => {
  for (const vertices of [1, 400, 10_000]) {
    const plan = { cheapPairs: cheapPairsOf(vertices) };
    const comfortable = comfortablePairs(vertices, Number.MAX_SAFE_INTEGER);
    t.equal(costOfStep(0, plan), 1);
    t.equal(costOfStep(2 * comfortable, plan), 1);
    t.equal(costOfStep(6 * comfortable, plan), 3);
  }
});
