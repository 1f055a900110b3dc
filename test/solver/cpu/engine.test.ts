import t from 'tap';
import type { Parameters } from '../../../src/contract/parameters.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { measureMesh } from '../../../src/mesh/measure.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { expectNoTimeOfCaller } from '../../support/stage-times.js';
import { stackSwap } from '../cases.js';

/** Two sheets, the upper one sent a hair towards the lower: every change below leaves P as it was or asks for another. */
async function open() {
  const builder = stackSwap(6);
  const { mesh: input } = builder.build();
  const x = Float32Array.from(builder.start);
  const y = x.map((value, i) => (i % 3 === 1 && value > 0.01 ? value - 1e-4 : value));
  const mesh = buildMesh(input);
  const { parameters } = resolveParameters({ quality: 'FAST' }, measureMesh(mesh, x));
  const units = { scale: 64, floor: parameters.activationDistance * 0.64 };
  const image = (positions: Float32Array) => positions.map((value) => value * units.scale);
  const scene = await createCpuEngine().open(mesh, parameters, units);
  return { scene, parameters, units, x: image(x), y: image(y) };
}

t.test('configure keeps the proximity set, unless a setting with which it was found has changed', async (t) => {
  const kept: Partial<Parameters>[] = [
    { damping: 0.5 },
    { residualTolerance: 1e-3 },
    { stepLimit: 7 },
    { sweepsPerStep: 1 },
    { stretchLimit: 0 },
    { stretchLimit: 1.3 },
    { contact: 'VOLUME' },
    { forward: 'ISOTROPIC' },
    { verify: 'PATH' },
  ];
  const { scene, parameters, units, x, y } = await open();
  t.notOk((await scene.resolve({ x, y })).proximitySetReused);
  t.ok((await scene.resolve({ x, y })).proximitySetReused);
  const { activationDistance: delta } = parameters;
  for (const change of kept) {
    scene.configure({ ...parameters, ...change }, { ...units, floor: units.floor * 1.01 });
    const { proximitySetReused, searches, status } = await scene.resolve({ x, y });
    t.same(
      { proximitySetReused, searches, status },
      { proximitySetReused: true, searches: 0, status: 'CONVERGED' },
      JSON.stringify(change),
    );
  }
  const found: Partial<Parameters>[] = [
    { activationDistance: 1.1 * delta },
    { reach: 1.5 * delta },
    { leap: 3 * delta },
    { searchRadiusMin: 2.5 * delta },
    { searchRadiusMax: 5 * delta },
    { kinematicPairs: 'PROTECT' },
    { preset: 'PAPER' },
  ];
  for (const change of found) {
    scene.configure({ ...parameters, ...change }, units);
    t.notOk((await scene.resolve({ x, y })).proximitySetReused, JSON.stringify(change));
    scene.configure(parameters, units);
    await scene.resolve({ x, y });
    t.ok((await scene.resolve({ x, y })).proximitySetReused, 'and again from then on');
  }
});

t.test('a scene with changed parameters computes the same as a scene opened with them', async (t) => {
  const { scene, parameters, units, x } = await open();
  // Far enough for contacts: the sheets change places.
  const y = x.map((value, i) => (i % 3 === 1 ? 0.03 * units.scale - value : value));
  const other: Parameters = {
    ...parameters,
    contact: 'VOLUME',
    stretchLimit: 0,
    damping: 0.8,
    activationDistance: 1.2e-3,
  };
  scene.configure(other, units);
  const fresh = await open();
  await fresh.scene.close();
  const opened = await createCpuEngine().open(buildMesh(stackSwap(6).build().mesh), other, units);
  t.same((await scene.resolve({ x, y })).positions, (await opened.resolve({ x, y })).positions);
});

t.test('bytes grow with the mesh and with the pairs', async (t) => {
  const { scene, units, x } = await open();
  const before = scene.bytes;
  t.ok(before > 0);
  await scene.resolve({ x, y: x.map((value, i) => (i % 3 === 1 ? 0.03 * units.scale - value : value)) });
  t.ok(scene.bytes > before);
});

t.test('a step of many sweeps checks between them whether to stop', async (t) => {
  const { scene, parameters, units, x, y } = await open();
  scene.configure({ ...parameters, stepLimit: 1, sweepsPerStep: 1000 }, units);
  let asked = 0;
  const ask = (most: number) => () => ++asked > most;
  t.equal((await scene.resolve({ x, y, shouldStop: ask(Infinity) })).steps, 1);
  t.ok(asked > 1000 / 20, `${asked} times`);
  asked = 0;
  t.equal((await scene.resolve({ x, y, shouldStop: ask(1) })).steps, 1, 'the step that it was in is ended');
  t.equal(asked, 2, 'without the other sweeps');
});

t.test('what a caller does with states is no time of a stage', (t) => expectNoTimeOfCaller(t, createCpuEngine()));
