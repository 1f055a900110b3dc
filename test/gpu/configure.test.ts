import t from 'tap';
import { createGpuEngine } from '../../gpu/engine.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { CASES } from '../solver/cases.js';
import { openTestEngine } from '../support/gpu.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

const { mesh: input, start, target } = CASES[0];

/** The first case with other parameters each time, as Engine.open and Scene.configure take them. */
function fitted(overrides: ParametersInput) {
  const mesh = buildMesh(input);
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ quality: 'FAST', ...overrides }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const units = { scale: frame.scale, floor: floorOf(parameters.activationDistance, frame, 'FLOAT64') };
  return { mesh, parameters, units, x: frame.toEngine(start), y: frame.toEngine(target) };
}

const bytesOf = ({ positions }: { positions: Float32Array }) => Buffer.from(positions.buffer, 0, positions.byteLength);

if (!engine) t.test('other parameters on an open scene', options, async () => undefined);
else {
  for (const [name, first, second] of [
    ['edge lengths switched on', { stretchLimit: 0 }, { stretchLimit: 1.1 }],
    ['edge lengths switched off', { stretchLimit: 1.1 }, { stretchLimit: 0 }],
    ['another δ', {}, { activationDistance: 2e-3 }],
    ['the preset PAPER', {}, { preset: 'PAPER', stepLimit: 8 }],
    ['the volume form and more sweeps', {}, { contact: 'VOLUME', sweepsPerStep: 3 }],
  ] as const) {
    t.test(`${name}: the same answers as from a scene opened with it`, async (t) => {
      const before = fitted(first);
      const { mesh, parameters, units, x, y } = fitted(second);
      const opened = await engine.open(mesh, parameters, units);
      const expected = await opened.resolve({ x, y });
      const bytes = opened.bytes;
      opened.close();
      const scene = await engine.open(before.mesh, before.parameters, before.units);
      scene.configure(parameters, units);
      const answer = await scene.resolve({ x, y });
      t.equal(answer.steps, expected.steps);
      t.ok(bytesOf(answer).equals(bytesOf(expected)), 'the same bytes');
      t.equal(scene.bytes, bytes, 'and the same memory');
      scene.close();
    });
  }

  t.test('P survives changes of parameters on which it does not depend, and no others.', async (t) => {
    const { mesh, parameters, units, x, y } = fitted({});
    const scene = await engine.open(mesh, parameters, units);
    const { positions } = await scene.resolve({ x, y });
    const onward = { x: positions, y };
    // Without an unfinished vertex no step would need P.
    onward.y = Float32Array.from(y, (value, k) => value + (k === 1 ? 0.01 : 0));
    const reusedWith = async (overrides: ParametersInput): Promise<boolean> => {
      const other = fitted(overrides);
      scene.configure(other.parameters, other.units);
      return (await scene.resolve(onward)).proximitySetReused;
    };
    t.equal(await reusedWith({ residualTolerance: 1e-3, stepLimit: 4, stretchLimit: 0, damping: 0.8 }), true);
    t.equal(await reusedWith({ activationDistance: 0.5 * parameters.activationDistance }), false);
    scene.close();
  });

  t.test('each stage has its time if requested, and otherwise all of it counts as the forward step', async (t) => {
    const { mesh, parameters, units, x, y } = fitted({});
    const plain = await engine.open(mesh, parameters, units);
    const { timings: whole, positions } = await plain.resolve({ x, y });
    plain.close();
    t.ok(whole.forward > 0);
    t.equal(whole.geometry + whole.backward, 0);
    const { engine: timed } = await createGpuEngine({ allowSoftware: true, timings: true });
    if (!timed) throw new Error('an adapter that was there a moment ago is gone');
    t.teardown(() => timed.close());
    const scene = await timed.open(mesh, parameters, units);
    const answer = await scene.resolve({ x, y });
    scene.close();
    t.ok(bytesOf(answer).equals(bytesOf({ positions })), 'timing changes nothing');
    // An adapter without time stamps reports as above.
    const { search, geometry, backward, forward } = answer.timings;
    if (geometry === 0) t.comment('this adapter has no time stamps');
    else t.ok(search > 0 && backward > 0 && forward > 0, `${search} ${geometry} ${backward} ${forward} µs`);
  });
}
