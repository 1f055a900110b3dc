import t from 'tap';
import { Algorithm1 } from '../../../bench/rivals/ablations/algorithm-1.js';
import { drawCharts } from '../../../bench/rivals/ablations/chart.js';
import { playFrames } from '../../../bench/rivals/ablations/frames.js';
import { AblatedHandler } from '../../../bench/rivals/ablations/handler.js';
import type { ImpactSteps } from '../../../bench/rivals/ablations/impact-steps.js';
import { lineariseAtTarget } from '../../../bench/rivals/ablations/linearise-at-target.js';
import { augmentedLagrangian, jacobi } from '../../../bench/rivals/ablations/optimisers.js';
import { play, prepare } from '../../../bench/rivals/ablations/play.js';
import { Rows } from '../../../bench/rivals/ablations/rows.js';
import { GROUPS, PAPER } from '../../../bench/rivals/ablations/variants.js';
import { ABLATION_SCENES } from '../../../bench/rivals/scenes.js';
import { modelOf } from '../../../examples/solver/runner/play.js';
import { makeGrid, movedBy } from '../../../examples/solver/scenes/shapes.js';
import type { Scene } from '../../../examples/solver/scenes/types.js';
import type { Contacts } from '../../../src/solver/cpu/contacts.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { VT } from '../../../src/solver/pair-kinds.js';
import { shareOf } from '../../support/share.js';

const sceneOf = (word: string) => {
  const scene = ABLATION_SCENES.find(({ name }) => name === word);
  if (!scene) throw new Error(`There is no scene ${word}.`);
  return scene.make();
};

t.test('without a replaced stage the answers are those of the product, bit for bit', async (t) => {
  const variants = [PAPER, ...GROUPS.flatMap(({ variants }) => variants)].filter(({ ablation }) => !ablation);
  t.ok(variants.length >= 8);
  for (const scene of shareOf(['drapes, resting', 'hair, 0.1 of its motion'], 2)) {
    const pair = sceneOf(scene);
    for (const variant of variants) {
      const { mesh, parameters, units, settings, x, y } = prepare(pair, variant);
      const product = await (await createCpuEngine().open(mesh, parameters, units)).resolve({ x, y });
      const answer = new Algorithm1(mesh, settings, { x, y }, {}).run();
      t.same(answer, {
        ...{ status: product.status, positions: product.positions, steps: product.steps },
        searches: product.searches,
      });
      t.ok(answer.steps > 1, `${scene}, ${variant.name}: ${answer.steps} steps`);
    }
  }
});

t.test('both optimisers come to the solution of a small system', async (t) => {
  // Three points on a line, y₁ ≥ y₀ + 1 and y₂ ≥ y₁ + 1, all of which want to be at 0: −1, 0, 1 is nearest.
  const rows = new Rows(Float32Array.of(1, 1, 1));
  for (const [i, j] of [
    [0, 1],
    [1, 2],
  ]) {
    rows.corner.push(i, j, -1, -1);
    rows.jacobian.push(-1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    rows.value.push(-1);
    rows.stiffness.push(2);
    rows.count++;
  }
  for (const [name, optimiser] of [
    ['Jacobi', jacobi(100)],
    ['augmented Lagrangian', augmentedLagrangian(1000)],
  ] as const) {
    const y = new Float32Array(9);
    optimiser(rows, new Float32Array(9), y);
    for (const [v, expected] of [-1, 0, 1].entries()) {
      t.ok(Math.abs(y[3 * v] - expected) < 1e-4, `${name}: ${y[3 * v]} for ${expected}`);
    }
  }
});

t.test('linearised at the target, a pair that has passed through is on the wrong side', async (t) => {
  // A point 1 above a triangle whose target is 2 below it.
  const x = Float32Array.of(0.2, 1, 0.2, 0, 0, 0, 0, 0, 1, 1, 0, 0);
  const y = x.slice();
  y[1] = -2;
  const contacts = {
    ...{ count: 1, corner: new Int32Array(4), jacobian: new Float32Array(12) },
    ...{ value: new Float32Array(1), stiffness: new Float32Array(1), pairOf: Int32Array.of(0) },
  };
  const pairs = {
    ...{ kind: Uint8Array.of(VT), vertex: Int32Array.of(0, 1, 2, 3) },
    ...{ normal: Float32Array.of(0, 1, 0), delta: Float32Array.of(0.5) },
  };
  lineariseAtTarget(contacts as unknown as Contacts, pairs as unknown as PairSet, y, Float32Array.of(1, 0, 0, 0));
  t.equal(contacts.value[0], -2.5, 'gap −2 less δ');
  t.same([...contacts.jacobian.subarray(0, 3)], [0, 1, 0], 'pushed back to the side it came from');
  t.equal(contacts.stiffness[0], 1);
});

t.test('step sizes by impacts: all of a shared α, or each its own', async (t) => {
  const pair = sceneOf('drapes, 5 layers');
  const { mesh, settings, x, y } = prepare(pair, PAPER);
  const least = (impactSteps: ImpactSteps) => {
    const alphas: number[] = [];
    let last = x.slice();
    const run = new Algorithm1(
      mesh,
      { ...settings, stepLimit: 1 },
      { x, y, onState: (state) => (last = state.slice()) },
      { impactSteps },
    );
    run.run();
    for (let i = 0; i < mesh.vertexCount; i++) {
      const k = 3 * i + 1;
      if (y[k] !== x[k]) alphas.push((last[k] - x[k]) / (y[k] - x[k]));
    }
    return { smallest: Math.min(...alphas), largest: Math.max(...alphas) };
  };
  const [shared, own] = [least('SHARED'), least('OWN')];
  t.ok(shared.largest - shared.smallest < 0.01 && shared.smallest > 0, JSON.stringify(shared));
  t.ok(own.largest > own.smallest + 0.1, JSON.stringify(own));
});

t.test('a variant is judged by the verifier: step sizes by vertex collide, a shared one does not', async (t) => {
  const pair = sceneOf('drapes, 5 layers');
  const own = play(pair, { name: 'own', ablation: { impactSteps: 'OWN' } }, 64);
  t.ok(own.collidingPieces > 0, `${own.collidingPieces} pieces`);
  const shared = play(pair, { name: 'shared', ablation: { impactSteps: 'SHARED' } }, 64);
  t.same([shared.collidingPieces, shared.intersections], [0, 0]);
  t.equal(shared.records.length, shared.steps);
});

t.test('charts have a line for each variant, and escape names', async (t) => {
  const svg = drawCharts('r < 1', [
    { title: 'r', lines: [1, 2, 3].map((n) => ({ name: `n & ${n}`, values: [1, 0.1, 0] })) },
  ]);
  t.equal(svg.match(/fill="none"/g)?.length, 3);
  t.match(svg, /r &lt; 1/);
  t.notMatch(svg, /NaN|Infinity|undefined/);
});

t.test('a variant takes the place of the service, from one target of a simulation to the next', async (t) => {
  const cloth = { kind: 'cloth', density: 0.2, stretching: 400, poisson: 0.3, bending: 2e-5 } as const;
  const scene: Scene = {
    ...{ name: 'fall', sentence: 'A cloth falls onto another one.', timeStep: 1 / 20, frames: 3, view: [0, 1, 0] },
    bodies: [
      { name: 'upper', geometry: movedBy(makeGrid(7, 7, 0.3, 0.3), [0.01, 0.02, 0.02]), material: cloth },
      { name: 'lower', geometry: makeGrid(7, 7, 0.3, 0.3), material: { kind: 'obstacle' } },
    ],
  };
  const { records, isCutShort } = await playFrames(scene, PAPER, 3, 64);
  t.equal(records.length, 3);
  t.notOk(isCutShort);
  t.ok(records[1].steps > 1, 'the cloths have met');
  for (const { collidingPieces, intersections } of records) t.same([collidingPieces, intersections], [0, 0]);

  const model = modelOf(scene);
  const handler = new AblatedHandler(model, scene.parameters ?? {}, PAPER, 64);
  const fallen = model.start.map((value, i) => (i % 3 === 2 && !model.isKinematic[(i - 2) / 3] ? value - 0.03 : value));
  const { positions, contacts } = await handler.step(fallen, 2 * handler.activationDistance);
  t.ok(contacts.count > 0);
  t.same(handler.toCaller(handler.path.at(-1)!), positions);
  await handler.step(fallen, 2 * handler.activationDistance);
  t.same(handler.toCaller(handler.path[0]), positions, 'the next path begins where the last one ended');
});
