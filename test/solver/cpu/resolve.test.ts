import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { resolveJudged } from '../../support/judged-resolve.js';
import { expectRandomRunsSafe, randomAlgorithm1 } from '../../support/random-runs.js';
import { shareOf } from '../../support/share.js';
import { CASES, stackSwap } from '../cases.js';

const engine = createCpuEngine();

const underPaper = shareOf(CASES, 3).map(({ name }) => name);

for (const { name, mesh, start, target, parameters, status, mostSteps, kinematicArrive } of CASES) {
  for (const preset of underPaper.includes(name) ? (['TUNED', 'PAPER'] as const) : (['TUNED'] as const)) {
    t.test(`${name}, ${preset}`, async (t) => {
      const paper = { preset, activationDistance: 1e-3, stepLimit: 60 } as const;
      const judged = await resolveJudged(engine, mesh, start, target, preset === 'PAPER' ? paper : parameters);
      t.equal(judged.intersections, 0, 'no state intersects');
      t.equal(judged.collisions, 0, 'no piece of the path collides');
      t.ok(judged.positions.every(Number.isFinite), 'every number is finite');
      if (preset === 'PAPER') return;
      if (status) t.equal(judged.resolution.status, status);
      if (mostSteps) t.ok(judged.resolution.steps <= mostSteps, `${judged.resolution.steps} steps`);
      if (kinematicArrive) {
        const late = judged.arrived.filter((arrived, i) => !arrived && judged.mesh.kinematic[i] === 1);
        t.equal(late.length, 0, 'kinematic vertices stand on their targets');
      }
    });
  }
}

t.test('the layers of a stack keep their order', async (t) => {
  const n = 20;
  const { mesh, start, target } = stackSwap(n).build();
  const { positions } = await resolveJudged(engine, mesh, start, target);
  // Straight above a vertex of the lower layer, well inside both sheets, the upper sheet must still lie above.
  const layer = (n + 1) ** 2;
  let compared = 0;
  for (let i = 0; i < layer; i++) {
    const [x, y, z] = positions.subarray(3 * i, 3 * i + 3);
    if (Math.hypot(x, z) > 0.05) continue;
    let nearest = -1;
    let best = Number.POSITIVE_INFINITY;
    for (let j = layer; j < 2 * layer; j++) {
      const d = Math.hypot(positions[3 * j] - x, positions[3 * j + 2] - z);
      if (d < best) {
        best = d;
        nearest = j;
      }
    }
    compared++;
    if (best < 0.004) t.ok(positions[3 * nearest + 1] > y, `vertex ${i} is still below`);
  }
  t.ok(compared > 40, 'enough columns were compared');
});

t.test('the paper preset stagnates on the stack and reports it', async (t) => {
  const { mesh, start, target } = stackSwap(10).build();
  const { resolution, intersections } = await resolveJudged(engine, mesh, start, target, { preset: 'PAPER' });
  t.equal(resolution.status, 'STALLED');
  t.ok(resolution.unfinishedVertices > 0);
  t.ok(resolution.limitingPairs.length > 0, 'what holds it is named');
  t.equal(intersections, 0);
});

t.test('random scenes with wild targets stay free of intersections at every step', (t) =>
  expectRandomRunsSafe(t, engine, 60, (random) => randomAlgorithm1(random, 40)),
);

t.test('stopping after any step leaves a safe state and status DEADLINE', async (t) => {
  const { mesh, start, target } = stackSwap(8).build();
  for (const stop of [0, 1, 3]) {
    const judged = await resolveJudged(engine, mesh, start, target, {}, stop);
    t.equal(judged.resolution.status, 'DEADLINE');
    t.equal(judged.resolution.steps, stop);
    t.equal(judged.intersections + judged.collisions, 0);
    if (stop === 0) t.notOk(judged.arrived.includes(true));
  }
});

t.test('the same request gives the same bytes', async (t) => {
  const { mesh, start, target } = stackSwap(10).build();
  const first = await resolveJudged(engine, mesh, start, target);
  const second = await resolveJudged(engine, mesh, start, target);
  t.ok(Buffer.from(first.positions.buffer).equals(Buffer.from(second.positions.buffer)));
  t.equal(first.resolution.steps, second.resolution.steps);
});

t.test('a request without motion returns its start at once', async (t) => {
  const { mesh, start } = stackSwap(4).build();
  const { resolution, positions, arrived } = await resolveJudged(engine, mesh, start, start);
  t.equal(resolution.status, 'CONVERGED');
  t.equal(resolution.steps, 0);
  t.equal(resolution.searches, 0);
  t.notOk(arrived.includes(false));
  t.ok(positions.every((value, k) => Math.abs(value - start[k]) < 1e-8));
});
