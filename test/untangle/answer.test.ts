import t from 'tap';
import { type ToUntangle, untangleOne } from '../../bench/untangle/run-one.js';
import { ExcludedPairs } from '../../src/mesh/excluded-pairs.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { Engine } from '../../src/solver/engine.js';
import type { UntangleTools } from '../../src/untangle/index.js';
import { findIntersections } from '../../src/verify/state.js';
import { seeded } from '../support/random.js';
import { dent } from './dent.js';
import { replaced } from './replaced.js';

t.setTimeout(600_000);

const engine = createCpuEngine();

/** Two iterations leave something over. */
const partly = (): ToUntangle => ({ ...dent(seeded(7), 1.8), maxIterations: 2 });

/** Untangles and tells how many states were tested in which phase; the first one in none yet. */
async function countTests(tangle: ToUntangle, engine: Engine, tools: Partial<UntangleTools> = {}) {
  const tests = { START: 0, UNTANGLING: 0, PULLING_BACK: 0, CHECKING_ANSWER: 0 };
  let phase: keyof typeof tests = 'START';
  const { report, positions } = await untangleOne(tangle, engine, {
    ...tools,
    onProgress: (progress) => {
      phase = progress.phase;
      tools.onProgress?.(progress);
    },
    testState: (...state) => {
      tests[phase]++;
      return findIntersections(...state);
    },
  });
  return { report, positions, tests };
}

/** Resolves that leave pairs out by a rule push; one that lists them, or leaves none out, is the pull-back. */
const isPullBack = (excluded: unknown): boolean => excluded === undefined || excluded instanceof ExcludedPairs;

t.test('no state is tested twice for an answer', async (t) => {
  const partial = await countTests(partly(), engine);
  t.equal(partial.report.status, 'PARTIAL');
  t.equal(partial.tests.CHECKING_ANSWER, 1, 'what was pulled back has no more than the best state');
  const lost = replaced((_, { excluded }) => (isPullBack(excluded) ? 'LOST' : 'OWN'));
  const single = { ...partly(), positions: Float32Array.from(partly().positions) };
  const kept = await countTests(single, lost);
  t.match(kept.report, { status: 'PARTIAL', ended: 'LOST_DEVICE' });
  t.equal(kept.tests.CHECKING_ANSWER, 0, 'the best state was tested in the numbers that are sent');
  const late = await countTests(partly(), engine, { timeLeft: () => 0 });
  t.match([late.report.status, late.tests], ['UNRESOLVED', { START: 1, CHECKING_ANSWER: 0 }], 'the start is known');
});

t.test('time is reserved for every test that the answer may need', async (t) => {
  const [took, limit] = [10, 1e6];
  for (const [positions, tests] of [
    [partly().positions, 2],
    // Its numbers are those that the best state was tested in.
    [Float32Array.from(partly().positions), 1],
  ] as const) {
    let now = 0;
    const left: { readonly pushing: number[]; readonly pulling: number[] } = { pushing: [], pulling: [] };
    const watched = replaced((_, { excluded, timeLeft }) => {
      left[isPullBack(excluded) ? 'pulling' : 'pushing'].push(limit - now - timeLeft!());
      return 'OWN';
    });
    const { report } = await untangleOne({ ...partly(), positions }, watched, {
      timeLeft: () => limit - now,
      testState: (...state) => {
        now += took;
        return findIntersections(...state);
      },
    });
    t.equal(report.status, 'PARTIAL');
    t.same(left, { pushing: [took, took], pulling: [tests * took] });
  }
});

t.test('the report says if the pull-back was cut short or had no time', async (t) => {
  // After the first iteration, which gains, the engine leads nowhere but back to the start.
  const stuck = () => {
    let start: Float32Array | undefined;
    return replaced((n, { x, excluded }) => {
      start ??= x.slice();
      return n === 1 || isPullBack(excluded) ? 'OWN' : start.slice();
    });
  };
  const { maxIterations: _, ...tangle } = partly();
  t.match((await untangleOne(tangle, stuck())).report, { status: 'PARTIAL', ended: 'NO_PROGRESS' });
  let isOver = false;
  const cut = await untangleOne(tangle, stuck(), {
    timeLeft: () => (isOver ? 0 : Number.POSITIVE_INFINITY),
    onProgress: ({ phase }) => {
      isOver = phase === 'PULLING_BACK';
    },
  });
  t.match(cut.report, { status: 'PARTIAL', ended: 'TIME_BUDGET' });
  // After three tests there is time for one more, but not for the two that a pull-back may need.
  let now = 0;
  const without = await untangleOne(
    partly(),
    replaced((_, { excluded }) => {
      t.notOk(isPullBack(excluded), 'no time is left for a pull-back');
      return 'OWN';
    }),
    {
      timeLeft: () => 45 - now,
      testState: (...state) => {
        now += 10;
        return findIntersections(...state);
      },
    },
  );
  t.match(without.report, { status: 'PARTIAL', ended: 'TIME_BUDGET' });
  t.equal(without.report.piercesByIteration.length, 3, 'after all its iterations');
});
