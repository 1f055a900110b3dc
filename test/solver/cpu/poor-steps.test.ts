import t from 'tap';
import {
  CLOSED_CHEAPER,
  EXCESS_WEIGHT,
  MOST_RESUMPTIONS,
  PULL_BACK_PIECES,
  SWEPT_EXCESS,
} from '../../../src/solver/constants.js';
import { costOfStep, mostPiecesOf, PoorShortenings, PoorSteps } from '../../../src/solver/cpu/poor-steps.js';
import { cheapPairsOf, comfortablePairs } from '../../../src/solver/pair-budget.js';

const PLAN = { minGain: 0.01, isEarly: true };
const CHEAP = {
  ...{ gain: 0.02, nearGain: 0, cost: 1, isLeaping: false, isHeld: false, isStill: false },
  ...{ excess: 0, isJammed: false, isClosed: false },
};

/** How the phase ends with the first step that ends it, and after how many. */
function endOf(steps: readonly Parameters<PoorSteps['after']>[0][], plan = PLAN) {
  const poor = new PoorSteps(plan, plan);
  for (const [n, step] of steps.entries()) {
    const ended = poor.after(step);
    if (ended) return { ended, steps: n + 1 };
  }
  return undefined;
}

const repeated = <T>(step: T, times = 20): T[] => Array.from({ length: times }, () => step);

t.test('three poor steps in a row end the phase, more if a box holds a vertex', async (t) => {
  t.equal(endOf(repeated(CHEAP)), undefined, 'steps that gain go on');
  t.same(endOf(repeated({ ...CHEAP, gain: 0.009 })), { ended: 'CONVERGED', steps: 3 });
  t.same(endOf(repeated({ ...CHEAP, gain: -1, isHeld: true })), { ended: 'STALLED', steps: 8 });
  const poor = { ...CHEAP, gain: 0 };
  t.same(endOf([poor, poor, CHEAP, poor, poor, poor]), { ended: 'CONVERGED', steps: 6 }, 'a good step counts anew');
});

t.test(
  'a step whose gain is a tiny share of Φ is not poor if the vertices near their targets gain enough',
  async (t) => {
    const beside = { ...CHEAP, gain: 1e-6, nearGain: 0.02 };
    t.equal(endOf(repeated(beside)), undefined);
    t.same(endOf(repeated({ ...beside, nearGain: 0.009 })), { ended: 'CONVERGED', steps: 3 });
    t.same(
      endOf(repeated({ ...beside, gain: -1e-6 })),
      { ended: 'CONVERGED', steps: 3 },
      'a worse state gains nothing',
    );
    t.same(endOf(repeated({ ...beside, cost: 3 })), { ended: 'CONVERGED', steps: 3 }, 'in a heap they must gain more');
  },
);

t.test('steps gain nothing if as many in a row as end the phase are worse than the best state', async (t) => {
  const poor = new PoorSteps(PLAN, PLAN);
  const after = (...gains: number[]): boolean => {
    for (const gain of gains) poor.after({ ...CHEAP, gain, isHeld: true });
    return poor.gainsNothing;
  };
  t.notOk(after(-1, 0));
  t.ok(after(-1e-9));
  t.notOk(after(1e-9), 'a better state, however little');
  t.notOk(after(-1, -1));
  t.ok(after(-1));
});

t.test(
  'steps that lower Φ again after limits were exceeded, though not below that of the best state, are not poor',
  async (t) => {
    const gains = (...of: readonly number[]) => of.map((gain) => ({ ...CHEAP, gain, excess: 0.5 }));
    t.equal(endOf(gains(-9, -8, -7, -6, -5, -4, -3, -2, -1, -0.5, -0.1)), undefined);
    t.same(endOf(gains(-9, -8, -8.5, -7, -7.5)), { ended: 'CONVERGED', steps: 5 }, 'nor do they count anew');
    t.same(endOf(gains(-9, -8.95, -8.9)), { ended: 'CONVERGED', steps: 3 }, 'they take less than 1 % off Φ');
    t.same(endOf(gains(0.02, -0.005, 0, 0.001)), { ended: 'CONVERGED', steps: 4 });
    const others = gains(-9, -8, -7).map((step) => ({ ...step, excess: 0.001 }));
    t.same(endOf(others), { ended: 'CONVERGED', steps: 3 }, 'limits have made none of them poor');
    const inHeap = gains(-9, -8, -7).map((step) => ({ ...step, cost: 1.1 }));
    t.same(endOf(inHeap), { ended: 'CONVERGED', steps: 3 }, 'in a heap they cost too much');
    const still = [...gains(-9), { ...CHEAP, gain: -8, excess: 0.5, isStill: true }];
    t.same(endOf(still), { ended: 'CONVERGED', steps: 2 }, 'no vertex wants to move');
    const held = [...gains(-9, -9, -9).map((step) => ({ ...step, isHeld: true })), ...gains(-8, -7, -6)];
    t.equal(endOf(held), undefined, 'after steps in which boxes held vertices');
  },
);

t.test(
  'steps that only shorten end with two poor ones in a row, in a heap with one, later if a box holds a vertex',
  async (t) => {
    const endOfShortening = (steps: readonly Parameters<PoorShortenings['after']>[0][]) => {
      const poor = new PoorShortenings();
      return steps.findIndex((step) => poor.after(step)) + 1;
    };
    const good = { gain: 0.11, cost: 1, isHeld: false };
    const poor = { ...good, gain: -2 };
    t.equal(endOfShortening(repeated(good)), 0, 'steps that shorten go on');
    t.equal(endOfShortening([good, poor, good, poor, poor]), 5);
    t.equal(endOfShortening(repeated({ ...poor, isHeld: true })), 8);
    t.equal(endOfShortening([...repeated({ ...poor, isHeld: true }, 3), poor]), 4, 'nothing is held any more');
    t.equal(
      endOfShortening(repeated({ ...good, gain: 0.09, cost: 1.1, isHeld: true })),
      1,
      'a heap asks more, at once',
    );
  },
);

t.test(
  'a step in which no vertex wants to move ends the phase at once, unless it gained or a box holds a vertex',
  async (t) => {
    const still = { ...CHEAP, gain: 0, isStill: true };
    t.same(endOf([CHEAP, still]), { ended: 'CONVERGED', steps: 2 });
    t.equal(endOf(repeated({ ...still, gain: 0.02 })), undefined);
    t.same(endOf(repeated({ ...still, isHeld: true })), { ended: 'STALLED', steps: 8 });
  },
);

t.test('a phase that edges over their limits have ended may be resumed, and again if it gained', async (t) => {
  const after = (...steps: Parameters<PoorSteps['after']>[0][]): PoorSteps => {
    const poor = new PoorSteps(PLAN, PLAN);
    for (const step of steps) poor.after(step);
    return poor;
  };
  const taut = { ...CHEAP, gain: 0, excess: 0.011 };
  const blocked = after(taut, taut, taut);
  t.ok(blocked.mayResume(0, 1));
  t.notOk(blocked.mayResume(1, 0.5, 1), 'it has gained nothing since');
  const gained = after(CHEAP, taut, taut, taut);
  t.ok(gained.mayResume(1, 0.5, 1) && gained.mayResume(MOST_RESUMPTIONS - 1, 0.5, 1));
  t.notOk(gained.mayResume(1, 0.995, 1), 'it has only regained what the last steps gave away');
  t.notOk(gained.mayResume(MOST_RESUMPTIONS, 0.5, 1));
  const slack = { ...taut, excess: 0.009 };
  const worse = { ...taut, gain: -9 };
  const recovering = { ...slack, gain: -1 };
  t.ok(after(worse, recovering, slack, slack).mayResume(0, 1), 'it has recovered from edges over their limits');
  t.notOk(
    after({ ...slack, gain: -9 }, recovering, slack, slack).mayResume(0, 1),
    'it has recovered from something else',
  );
  t.notOk(after(worse, recovering, CHEAP, slack, slack, slack).mayResume(0, 1), 'before a step that gained');
  t.notOk(after(taut, taut, slack).mayResume(0, 1), 'too little of Φ in the last step');
  t.notOk(after(taut, taut, { ...taut, cost: 1.1 }).mayResume(0, 1), 'a heap');
  t.notOk(after(taut, taut, { ...taut, isStill: true }).mayResume(0, 1), 'no vertex wants to move');
  t.notOk(after(...repeated({ ...taut, isHeld: true }, 8)).mayResume(0, 1), 'boxes hold vertices');
});

t.test(
  'a phase that ends jammed may be resumed if any edge is over its limit, unless targets are scattered',
  async (t) => {
    const mayResume = (step: Parameters<PoorSteps['after']>[0], isEarly = true): boolean => {
      const poor = new PoorSteps(PLAN, { isEarly });
      for (const each of repeated(step, 3)) poor.after(each);
      return poor.mayResume(0, 1);
    };
    const jammed = { ...CHEAP, gain: 0, excess: 1e-11, isJammed: true };
    t.ok(mayResume(jammed));
    t.notOk(mayResume({ ...jammed, isJammed: false }));
    t.notOk(mayResume({ ...jammed, excess: 0 }), 'no last steps would change anything');
    t.notOk(mayResume(jammed, false), 'scattered targets');
    t.notOk(mayResume({ ...jammed, cost: 1.1 }), 'a heap');
  },
);

t.test('a mesh on its way goes on while it comes nearer, and is resumed once', async (t) => {
  const after = (...steps: Parameters<PoorSteps['after']>[0][]): PoorSteps => {
    const counted = new PoorSteps(PLAN, PLAN);
    for (const step of steps) counted.after(step);
    return counted;
  };
  const slow = { ...CHEAP, gain: 0.001, leastGain: 0.001 };
  t.equal(endOf(repeated(slow)), undefined);
  t.same(endOf(repeated({ ...slow, gain: 0.0009 })), { ended: 'CONVERGED', steps: 3 });
  t.equal(endOf(repeated({ ...CHEAP, gain: 0.011, leastGain: 0.02 })), undefined, 'no more than others');
  t.same(endOf(repeated({ ...slow, cost: 2 })), { ended: 'CONVERGED', steps: 3 }, 'a heap');
  t.same(endOf(repeated({ ...slow, gain: 1e-9, nearGain: 0.002 })), { ended: 'CONVERGED', steps: 3 });
  const poor = { ...slow, gain: 0.0009 };
  t.ok(after(poor, poor, poor).mayResume(0, 1));
  t.notOk(after(slow, poor, poor, poor).mayResume(1, 0.5, 1), 'once');
  t.notOk(after(...repeated({ ...poor, leastGain: undefined }, 3)).mayResume(0, 1), 'not on its way');
  const worse = { ...poor, gain: -0.001 };
  t.notOk(after(worse, worse, worse).mayResume(0, 1), 'nothing gains');
  t.ok(after(poor, worse, worse).mayResume(0, 1), 'one of them has gained');
  t.notOk(after(poor, poor, { ...poor, cost: 1.1 }).mayResume(0, 1), 'a heap');
  t.notOk(after(poor, poor, { ...poor, isStill: true }).mayResume(0, 1), 'no vertex wants to move');
  t.notOk(after(...repeated({ ...poor, isHeld: true }, 8)).mayResume(0, 1), 'boxes hold vertices');
});

t.test('sweeps leave little excess of edges over their limits once a step was poor because of them', async (t) => {
  const poor = { ...CHEAP, gain: 0 };
  const after = (...steps: (typeof CHEAP)[]) => {
    const counted = new PoorSteps(PLAN, PLAN);
    for (const step of steps) counted.after(step);
    return counted.mostExcess(7);
  };
  t.equal(after(poor, { ...CHEAP, excess: 0.5 }, { ...poor, excess: 0.5, cost: 2 }), Number.POSITIVE_INFINITY);
  t.equal(after({ ...poor, excess: 0.011 }, CHEAP), (7 * SWEPT_EXCESS) / EXCESS_WEIGHT);
});

t.test('a heap requires the same of a step in every quality', async (t) => {
  const fine = { ...PLAN, minGain: 0.001 };
  t.equal(endOf(repeated({ ...CHEAP, gain: 0.0011 }), fine), undefined);
  t.same(endOf(repeated({ ...CHEAP, gain: 0.0199, cost: 2 }), fine), { ended: 'CONVERGED', steps: 3 });
});

t.test('a step that costs more must gain more in proportion', async (t) => {
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

t.test('a forward step has several pieces only while boxes with a leap have room', async (t) => {
  for (const vertices of [1, 400, 10_000]) {
    const plan = { cheapPairs: cheapPairsOf(vertices) };
    const comfortable = comfortablePairs(vertices, Number.MAX_SAFE_INTEGER);
    t.equal(mostPiecesOf(comfortable, plan, false), PULL_BACK_PIECES);
    t.equal(mostPiecesOf(comfortable + 1, plan, false), 1);
    t.equal(mostPiecesOf(comfortable / CLOSED_CHEAPER, plan, true), PULL_BACK_PIECES, 'pieces cost little');
    t.equal(mostPiecesOf(comfortable / CLOSED_CHEAPER + 1, plan, true), 1, 'closed contacts would stop further pieces');
  }
});

t.test('contacts count as closed after a poor step only', async (t) => {
  const closed = { ...CHEAP, gain: 0, isClosed: true };
  const isClosedAfter = (...steps: (typeof CHEAP)[]): boolean => {
    const poor = new PoorSteps(PLAN, PLAN);
    for (const step of steps) poor.after(step);
    return poor.isClosed;
  };
  t.notOk(isClosedAfter(), 'the first step has several pieces');
  t.ok(isClosedAfter(closed));
  t.notOk(isClosedAfter({ ...closed, gain: 0.02 }), 'it gained');
  t.notOk(isClosedAfter({ ...closed, isClosed: false }), 'vertices could move');
  t.notOk(isClosedAfter(closed, { ...closed, gain: 0.02 }), 'the last step counts');
});
