import t from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { pinch } from '../solver/cases.js';
import { openTestEngine } from '../support/gpu.js';
import { type Judged, resolveJudged } from '../support/judged-resolve.js';
import { openCase } from '../support/open-case.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

const shortOf = ({ arrived, mesh }: Judged): number =>
  arrived.filter((isThere, v) => !isThere && mesh.kinematic[v] === 1).length;

if (!engine) t.test('the last step of kinematic vertices on the GPU engine', options, async () => undefined);
else {
  t.test('plates that close on a sheet as far as there is room end at their targets, bit for bit', async (t) => {
    for (const quality of ['FAST', 'BALANCED'] as const) {
      for (const gap of [1e-3, 5e-4]) {
        const { mesh, start, target } = pinch(gap).build();
        const judged = await resolveJudged(engine, mesh, start, target, { quality });
        const { status, residual, residuals } = judged.resolution;
        t.equal(status, 'CONVERGED');
        t.equal(judged.intersections + judged.collisions, 0, 'safe to its last piece');
        t.equal(shortOf(judged), 0, `${quality}, ${gap}`);
        t.equal(
          residual,
          residuals.reduce((most, r) => Math.max(most, r), 0),
        );
      }
    }
  });

  t.test('the last step obeys the step limit and the caller', async (t) => {
    const { mesh, start, target } = pinch(1e-3).build();
    const run = (parameters: ParametersInput, stopAfter?: number) =>
      resolveJudged(engine, mesh, start, target, { quality: 'FAST', ...parameters }, stopAfter);
    const free = await run({});
    const { steps } = free.resolution;
    const limited = await run({ stepLimit: steps - 1 });
    t.equal(limited.resolution.steps, steps - 1);
    t.ok(shortOf(limited) > 0, `${shortOf(limited)} short without the last step`);
    t.equal(limited.resolution.status, 'CONVERGED', 'their motion is used up all the same');
    const stopped = await run({}, steps - 1);
    t.equal(stopped.resolution.steps, steps - 1);
    t.same(stopped.positions, limited.positions);
  });

  t.test('if the last step uses up the step limit, the run has no pull-back', async (t) => {
    const { mesh, start, target } = pinch(3e-4).build();
    // Of 33 steps one is left to the pull-back.
    const [before, after] = await Promise.all(
      [32, 33].map((stepLimit) => openCase(engine, mesh, start, target, { quality: 'BALANCED', stepLimit })),
    );
    const phases: unknown[] = [];
    const without = await before!.resolve();
    const { status, steps, pullBack, unfinishedVertices } = await after!.resolve({
      onState: (_, from) => phases.push(from?.phase),
    });
    t.strictSame(
      { status, steps, pullBack, last: phases.at(-1) },
      {
        status: 'STEP_LIMIT',
        steps: 33,
        pullBack: undefined,
        last: 'ARRIVAL',
      },
    );
    t.equal(unfinishedVertices, without.unfinishedVertices, 'as many vertices have motion left as before it');
    for (const { scene } of [before!, after!]) scene.close();
  });

  t.test('without room the vertices stay in place, and limiting pairs of other vertices are reported', async (t) => {
    for (const gap of [-1e-3, 1e-4]) {
      const { mesh, start, target } = pinch(gap).build();
      const judged = await resolveJudged(engine, mesh, start, target, { quality: 'FAST', stepLimit: 120 });
      t.equal(judged.intersections + judged.collisions, 0, `${gap}: safe`);
      const { status, unfinishedVertices, limitingPairs } = judged.resolution;
      if (status === 'STALLED' && unfinishedVertices > 0) t.ok(limitingPairs.length > 0, `${gap}: pairs are named`);
    }
  });
}
