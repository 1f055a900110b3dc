import t from 'tap';
import { untangleOne } from '../../bench/untangle/run-one.js';
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
  const { report } = await untangleOne(tangle, stuck);
  const [first, best, ...others] = report.piercesByIteration as [number, number, ...number[]];
  t.ok(best < first && others.every((count) => count === first));
  const isBest = (x: Float32Array): boolean => x.every((p, k) => p === begun[1]![k]);
  t.notOk(isBest(begun[2]!), 'it goes on for a while');
  t.ok(begun.slice(3, 8).some(isBest), 'and then begins at the best state');
  t.equal(report.piercesAfter, best, 'which is the answer');
});
