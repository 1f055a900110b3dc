import t from 'tap';
import { untangleOne } from '../../bench/untangle/run-one.js';
import type { UntangleProgress } from '../../src/contract/untangle.js';
import { Gains, type Strategy } from '../../src/untangle/gains.js';
import { seeded } from '../support/random.js';
import { dent } from './dent.js';
import { replaced } from './replaced.js';

t.test('iterations without a gain go back to the best state', async (t) => {
  const tangle = { ...dent(seeded(7), 1.8), maxIterations: 8 };
  const begun: Float32Array[] = [];
  // After the first iteration, which gains, the engine leads nowhere but back to the start.
  const stuck = replaced((n, { x }) => {
    begun.push(x.slice());
    return n === 1 ? 'OWN' : begun[0]!.slice();
  });
  const progress: UntangleProgress[] = [];
  const { report } = await untangleOne(tangle, stuck, { onProgress: (told) => progress.push(told) });
  const [first, best] = report.piercesByIteration as [number, number];
  t.ok(best < first);
  const isBest = (x: Float32Array): boolean => x.every((p, k) => p === begun[1]![k]);
  t.notOk(isBest(begun[2]!), 'it goes on for a while');
  t.ok(begun.slice(3, 8).some(isBest), 'and then begins at the best state');
  t.equal(report.piercesAfter, best, 'which is the answer');
  const beginnings = begun.slice(0, 8).map((x) => (isBest(x) ? best : first));
  t.same(report.piercesByIteration.slice(0, 8), beginnings, 'the report tells what each iteration begins with');
  const phases = progress.map(({ phase }) => phase);
  t.same(phases, [...new Array(9).fill('UNTANGLING'), 'PULLING_BACK', 'CHECKING_ANSWER']);
  t.same(
    progress.map(({ iteration }) => iteration),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9],
  );
  t.same(
    progress.map(({ pierces }) => pierces),
    [...report.piercesByIteration, best, best],
    'and so does the progress, which then tells of the state that is pulled back',
  );
  const { contours, regionVertices } = progress[7]!;
  t.ok(contours > 0);
  for (const told of progress.slice(-2)) t.match(told, { contours, regionVertices });
});

t.test('after the last gain every strategy gets its full number of iterations', async (t) => {
  const state = (intersectionCount: number, iteration: number) => ({
    ...{ x: new Float32Array(0), at: new Float64Array(0), iteration },
    findings: { intersectionCount, intersections: [], kinematicIntersectionCount: 0, pairsTested: 0, doubtfulPairs: 0 },
  });
  for (const strategy of ['PUSH', 'MIXED', 'SHORTEN'] as const) {
    const gains = new Gains();
    let n = 1;
    gains.note(state(100, n++), true, () => true);
    while (gains.strategy !== strategy) gains.note(state(100, n++), true, () => true);
    gains.note(state(50, n++), true, () => true);
    const [turns, rings]: [Record<Strategy, number>, Set<number>] = [{ PUSH: 0, MIXED: 0, SHORTEN: 0 }, new Set()];
    for (; !gains.isHopeless; n++) {
      turns[gains.strategy]++;
      if (gains.strategy === 'PUSH') rings.add(gains.rings);
      gains.note(state(60, n), true, () => true);
    }
    t.same(
      turns,
      {
        PUSH: { PUSH: 12, MIXED: 3, SHORTEN: 3 },
        MIXED: { PUSH: 6, MIXED: 6, SHORTEN: 6 },
        SHORTEN: { PUSH: 9, MIXED: 3, SHORTEN: 6 },
      }[strategy],
      strategy,
    );
    t.ok(rings.size > 1, 'also with wider regions');
  }
});
