import t from 'tap';
import type { Quality } from '../../../src/contract/parameters.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { resolveJudged } from '../../support/judged-resolve.js';
import { examplePair, randomPullBack, rmsOf, STRETCH_ROUNDING, stretchOf } from '../../support/nearness.js';
import { seeded } from '../../support/random.js';
import { expectNearerWithMoreSteps, expectRandomRunsSafe } from '../../support/random-runs.js';
import { CASES, scatteredSheet, stackSwap } from '../cases.js';

t.setTimeout(120_000);

const engine = createCpuEngine();

for (const { name, mesh, start, target, parameters, kinematicArrive } of CASES) {
  t.test(`${name}, BALANCED`, async (t) => {
    const judged = await resolveJudged(engine, mesh, start, target, {
      stepLimit: 120,
      ...parameters,
      quality: 'BALANCED',
    });
    t.equal(judged.intersections, 0, 'no state intersects');
    t.equal(judged.collisions, 0, 'no piece of the path collides');
    t.ok(judged.positions.every(Number.isFinite), 'every number is finite');
    const { residual, residuals, status } = judged.resolution;
    t.equal(
      residual,
      residuals.reduce((most, r) => Math.max(most, r), 0),
      'the residual is the largest of all',
    );
    if (status === 'CONVERGED') t.ok(residual < 1e-4, 'converged means that nothing is held');
    if (kinematicArrive) {
      const late = judged.arrived.filter((arrived, i) => !arrived && judged.mesh.kinematic[i] === 1);
      t.equal(late.length, 0, 'kinematic vertices stand on their targets');
    }
  });
}

t.test('the examples come nearer to their targets, and no edge exceeds its limit', async (t) => {
  for (const name of ['layers', 'hair', 'solid', 'spike', 'sleeve'] as const) {
    const { mesh, start, target, parameters } = examplePair(name);
    const solve = (quality: Quality) =>
      resolveJudged(engine, mesh, start, target, { ...parameters, quality, verify: 'STATE' });
    const fast = await solve('FAST');
    const balanced = await solve('BALANCED');
    t.equal(balanced.intersections + balanced.collisions, 0, `${name}: safe`);
    t.equal(balanced.resolution.status, 'CONVERGED', name);
    const stretch = stretchOf(balanced, target);
    t.ok(stretch <= 1.1 * (1 + STRETCH_ROUNDING), `${name}: stretch ${stretch}, FAST ${stretchOf(fast, target)}`);
    // A tent under σ cannot lie as near as one that FAST stretches: only where FAST keeps the limit nearly is it a measure.
    if (name === 'spike' || name === 'sleeve') continue;
    const [near, far] = [rmsOf(balanced, target), rmsOf(fast, target)];
    t.ok(near < far, `${name}: rms ${near}, FAST ${far}`);
  }
});

t.test('random scenes with wild targets stay free of intersections at every step', (t) =>
  expectRandomRunsSafe(t, engine, 40, randomPullBack),
);

t.test('where targets are scattered it follows Algorithm 1, and comes nearer in at most as many steps', async (t) => {
  const { mesh, start, target } = scatteredSheet(12, 4, seeded(20261122)).build();
  const fast = await resolveJudged(engine, mesh, start, target, { quality: 'FAST' });
  const balanced = await resolveJudged(engine, mesh, start, target, { quality: 'BALANCED' });
  t.equal(balanced.intersections + balanced.collisions, 0, 'safe');
  const { steps, pullBack } = balanced.resolution;
  t.same(pullBack?.before, fast.resolution.positions, 'it begins with the answer of FAST');
  t.equal(steps - (pullBack?.steps ?? 0), fast.resolution.steps);
  t.ok(steps <= 2 * fast.resolution.steps, `${steps} steps, FAST ${fast.resolution.steps}`);
  const [near, far] = [rmsOf(balanced, target), rmsOf(fast, target)];
  t.ok(near < far, `rms ${near}, FAST ${far}`);
  // It draws in what Algorithm 1 has left too long.
  t.ok(stretchOf(fast, target) > 1.5, `FAST: stretch ${stretchOf(fast, target)}`);
  t.ok(stretchOf(balanced, target) <= 1.1 * (1 + STRETCH_ROUNDING), `stretch ${stretchOf(balanced, target)}`);
});

t.test('stopping after any state leaves a safe one and status DEADLINE', async (t) => {
  const { mesh, start, target } = stackSwap(8).build();
  for (const stop of [0, 1, 2, 3]) {
    const judged = await resolveJudged(engine, mesh, start, target, { quality: 'BALANCED' }, stop);
    t.equal(judged.resolution.status, 'DEADLINE');
    t.equal(judged.intersections + judged.collisions, 0);
    t.ok(judged.resolution.unfinishedVertices > 0, 'what was not settled is told');
  }
});

t.test('the step limit ends it with the best state so far', (t) => expectNearerWithMoreSteps(t, engine));

t.test('a request that wants nothing answers its start without a step', async (t) => {
  const { mesh, start } = stackSwap(4).build();
  const { resolution } = await resolveJudged(engine, mesh, start, start, { quality: 'BALANCED' });
  t.match(resolution, { status: 'CONVERGED', steps: 0, searches: 0, unfinishedVertices: 0 });
});

t.test('the same request gives the same bytes', async (t) => {
  const { mesh, start, target } = stackSwap(10).build();
  const first = await resolveJudged(engine, mesh, start, target, { quality: 'BALANCED' });
  const second = await resolveJudged(engine, mesh, start, target, { quality: 'BALANCED' });
  t.ok(Buffer.from(first.positions.buffer).equals(Buffer.from(second.positions.buffer)));
});

t.test('a free vertex reaches the bits of its target, however near that is', async (t) => {
  const { mesh, start } = examplePair('layers');
  for (const distance of [1e-3, 1e-5, 1e-7]) {
    const target = start.map((x, i) => (i % 3 === 0 ? x + distance : x));
    const judged = await resolveJudged(engine, mesh, start, target, { quality: 'BALANCED' });
    t.equal(judged.resolution.status, 'CONVERGED');
    t.ok(judged.arrived.every(Boolean), `${distance}: ${judged.arrived.filter((arrived) => !arrived).length} short`);
  }
});
