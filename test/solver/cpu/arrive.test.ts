import t from 'tap';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { aimAtPrescribed, allOrNothing, settleArrived } from '../../../src/solver/cpu/arrive.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { resolveJudged } from '../../support/judged-resolve.js';
import { openCase } from '../../support/open-case.js';
import { seeded } from '../../support/random.js';
import { pinch } from '../cases.js';

t.test('only kinematic vertices that have used up their motion are aimed at their targets', async (t) => {
  const x = Float32Array.from({ length: 15 }, (_, i) => i);
  const target = x.map((value) => value + 0.5);
  target.set(x.subarray(9, 12), 9);
  const y = new Float32Array(15).fill(9);
  const kinematic = Uint8Array.of(1, 0, 1, 1, 1);
  const r = Float32Array.of(1e-5, 1e-5, 1, 0, 0);
  t.equal(aimAtPrescribed(x, y, target, kinematic, r, 1e-4), 2);
  t.same([...y.subarray(0, 3)], [...target.subarray(0, 3)]);
  t.same([...y.subarray(3, 12)], [...x.subarray(3, 12)], 'dynamic, unfinished, and there already');
  t.same([...y.subarray(12)], [...target.subarray(12)]);
  const kept = y.slice();
  t.equal(aimAtPrescribed(x, y, x, kinematic, r, 1e-4), 0);
  t.same(y, kept, 'nothing to do, nothing done');
});

t.test('the last step makes a whole motion or none, and updates the residuals', async (t) => {
  const alpha = Float32Array.of(1, 0.999, 0, 1);
  allOrNothing(alpha);
  t.same([...alpha], [1, 0, 0, 1]);
  const residuals = { r: Float32Array.of(0.5, 0.25, 0.125, 0.75), largest: 0.75 };
  settleArrived(residuals, Uint8Array.of(1, 1, 1, 0), alpha);
  t.same([...residuals.r], [0, 0.25, 0.125, 0.75]);
  settleArrived(residuals, Uint8Array.of(1, 1, 1, 1), alpha);
  t.equal(residuals.largest, 0.25);
});

t.test('plates that close on a sheet as far as there is room end at their targets, bit for bit', async (t) => {
  for (const quality of ['FAST', 'BALANCED'] as const) {
    for (const gap of [1e-3, 5e-4]) {
      const { mesh, start, target } = pinch(gap).build();
      const judged = await resolveJudged(createCpuEngine(), mesh, start, target, { quality });
      const { status, residual, residuals } = judged.resolution;
      t.equal(status, 'CONVERGED');
      t.equal(judged.intersections + judged.collisions, 0, 'safe to its last piece');
      const short = judged.arrived.filter((arrived, v) => !arrived && judged.mesh.kinematic[v] === 1);
      t.equal(short.length, 0, `${quality}, ${gap}: ${short.length} short`);
      const largest = residuals.reduce((most, r) => Math.max(most, r), 0);
      t.equal(residual, largest);
    }
  }
});

t.test('the last step obeys the step limit and the caller', async (t) => {
  const { mesh, start, target } = pinch(1e-3).build();
  const run = (parameters: ParametersInput, stopAfter?: number) =>
    resolveJudged(createCpuEngine(), mesh, start, target, { quality: 'FAST', ...parameters }, stopAfter);
  const shortOf = ({ arrived, mesh }: Awaited<ReturnType<typeof run>>) =>
    arrived.filter((isThere, v) => !isThere && mesh.kinematic[v] === 1).length;
  const free = await run({});
  const { steps } = free.resolution;
  const limited = await run({ stepLimit: steps - 1 });
  t.equal(limited.resolution.steps, steps - 1);
  t.ok(shortOf(limited) > 0, `${shortOf(limited)} short without the last step`);
  t.same(limited.resolution.status, 'CONVERGED', 'their motion is used up all the same');
  const stopped = await run({}, steps - 1);
  t.equal(stopped.resolution.steps, steps - 1);
  t.same(stopped.positions, limited.positions);
});

t.test('pairs that touched before the last step are told after it', async (t) => {
  const scene = pinch(1e-3);
  const slope = (at: number, to: number): void => {
    const corner = (u: number, v: number): number => {
      const height = 0.37 * u + 0.61 * v;
      return scene.vertex([0.1 + u, at + height, v], [0.1 + u, to + height, v]);
    };
    scene.triangle(corner(0, 0), corner(0.01, 0), corner(0, 0.01));
  };
  // So near that no plane separates them, beside the plates: each wants to be beyond the other.
  slope(0, 0.01);
  slope(1e-8, -0.01);
  const { mesh, start, target } = scene.build();
  const run = async (stepLimit: number) => {
    const parameters = { quality: 'FAST', stepLimit, activationDistance: 1e-3 } as const;
    const { scene, resolve } = await openCase(createCpuEngine(), mesh, start, target, parameters);
    const answer = await resolve();
    scene.close();
    return answer;
  };
  const { steps, touchingPairs } = await run(200);
  const before = await run(steps - 1);
  t.ok(before.touchingPairs > 0, `${before.touchingPairs} touch`);
  t.equal(touchingPairs, before.touchingPairs);
});

t.test('without room the vertices stay in place, and limiting pairs of other vertices are reported', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 12; round++) {
    // From room for two offsets to plates that pass through each other.
    const { mesh, start, target } = pinch(random.between(-2e-3, 1e-3)).build();
    const judged = await resolveJudged(createCpuEngine(), mesh, start, target, { quality: 'FAST', stepLimit: 300 });
    t.equal(judged.intersections + judged.collisions, 0, `round ${round}: safe`);
    const { status, unfinishedVertices, limitingPairs } = judged.resolution;
    if (status === 'STALLED' && unfinishedVertices > 0)
      t.ok(limitingPairs.length > 0, `round ${round}: pairs are named`);
  }
});
