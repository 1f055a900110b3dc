import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { openTestEngine } from '../../support/gpu.js';
import { openCase } from '../../support/open-case.js';
import { SceneBuilder } from '../../support/scene-builder.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

/** Two patches, each a group: one has a distant target, and the other one a target at which it cannot be moved rigidly. */
function patches() {
  const scene = new SceneBuilder();
  for (const [g, bend] of [
    [0, 0],
    [1, 0.3],
  ] as const)
    scene.sheet(3, (u, v) => {
      const [x, y, z] = [0.5 * u + 1.2 * g, 0.1 * g, 0.5 * v];
      return { at: [x, y, z], to: [x + 3, y + 1 + bend * u * u, z - 2] };
    });
  return scene.build();
}

t.test('a step limit that moving groups use up ends both engines at the same place', options, async (t) => {
  const cpu = createCpuEngine();
  t.teardown(() => cpu.close());
  const { mesh, start, target } = patches();
  for (const quality of ['FAST', 'BALANCED'] as const) {
    for (const stepLimit of [1, 2]) {
      const parameters = { quality, stepLimit };
      const cases = [];
      for (const one of [cpu, engine!]) cases.push(await openCase(one, mesh, start, target, parameters));
      const [reference, device] = cases;
      const named = `${quality}, ${stepLimit}`;
      const [wanted, got] = [await reference!.resolve(), await device!.resolve()];
      t.same(got.positions, wanted.positions, named);
      t.notSame(got.positions, reference!.x, `${named}: it has moved`);
      for (const what of ['status', 'steps', 'residual', 'unfinishedVertices'] as const)
        t.equal(got[what], wanted[what], `${named}: ${what}`);
      // The scene continues from there.
      const again = [];
      for (const { scene, y } of cases) again.push(await scene.resolve({ x: wanted.positions, y }));
      t.equal(again[1]!.steps, again[0]!.steps, named);
      for (const { scene } of cases) scene.close();
    }
  }
});
