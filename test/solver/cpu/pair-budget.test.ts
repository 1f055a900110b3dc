import t from 'tap';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { BYTES_PER_PAIR, pairLimit } from '../../../src/solver/pair-budget.js';
import { team } from '../../../src/threads/here.js';
import { crowdOf } from '../../support/crowd.js';
import { refusalOf } from '../../support/job.js';
import { openCase } from '../../support/open-case.js';

/** A few short steps: what is counted does not depend on how many there are. */
const SHORT: ParametersInput = { stepLimit: 3, quality: 'FAST' };

t.test('the limit of pairs follows from bytes', (t) => {
  t.equal(pairLimit(undefined), 24_000_000);
  t.equal(pairLimit(0), 24_000_000);
  t.equal(pairLimit(2 ** 40), 24_000_000);
  t.equal(pairLimit(1000 * BYTES_PER_PAIR + 5), 1000);
  t.end();
});

t.test(
  'a request whose pairs exceed their bytes is refused with demand and capacity, and the scene remains usable',
  async (t) => {
    const { mesh, start, target, parameters } = crowdOf(300);
    const limit = 2000;
    const engine = createCpuEngine({ maxPairBytes: limit * BYTES_PER_PAIR });
    const { scene, x, resolve } = await openCase(engine, mesh, start, target, { ...SHORT, ...parameters });
    const refusal = await refusalOf(resolve());
    t.equal(refusal.code, 'TOO_LARGE');
    const [found, demand, pairs, capacity] = refusal.message.match(/\d+/g)!.map(Number);
    t.ok(found! > limit, refusal.message);
    t.strictSame([demand, pairs, capacity], [found! * BYTES_PER_PAIR, limit, limit * BYTES_PER_PAIR]);
    t.equal(engine.sharedBytes, 0, 'nothing is kept of it');
    const still = await scene.resolve({ x, y: x });
    t.equal(still.status, 'CONVERGED');
    t.same(still.positions, x);
    const ample = await openCase(createCpuEngine(), mesh, start, target, { ...SHORT, ...parameters });
    t.ok((await ample.resolve()).pairs.vertexVertex > limit);
  },
);

t.test('a request takes no more bytes per pair than its budget assumes', async (t) => {
  const crowd = crowdOf(700);
  const engine = createCpuEngine();
  const before = team.memory.account.own;
  const opened = await openCase(engine, crowd.mesh, crowd.start, crowd.target, { ...SHORT, ...crowd.parameters });
  let most = 0;
  const { pairs } = await opened.scene.resolve({
    ...{ x: opened.x, y: opened.y },
    timeLeft: () => {
      most = Math.max(most, team.memory.account.own - before);
      return Number.POSITIVE_INFINITY;
    },
  });
  t.ok(pairs.vertexVertex > 50_000, `${pairs.vertexVertex} pairs`);
  // Per vertex: trees, boxes, states, and up to 24 contacts with their rows.
  const perVertex = 1000 + 24 * 164;
  t.ok(most <= BYTES_PER_PAIR * pairs.vertexVertex + perVertex * 700, `${most / pairs.vertexVertex} bytes a pair`);
  t.comment(`${most / pairs.vertexVertex} bytes a pair`);
  opened.scene.close();
});
