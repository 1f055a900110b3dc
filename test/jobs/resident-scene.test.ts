import t from 'tap';
import { SCENES } from '../../examples/scenes/index.js';
import { bytesOf } from '../../src/mesh/bytes.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { keptFor } from '../../src/verify/mesh-tree.js';
import { between, fakeEngine, resolution, stepping } from '../support/fake-engine.js';
import { spike } from '../support/job.js';
import { DirectSession } from '../support/scenes.js';

/** The spike with its tip this high above the floor. */
const tipAt = (height: number) => spike(height, 0).start;
const HEIGHTS = [0.24, 0.235, 0.1, 0.2, -0.5, 0.23];

t.test(
  'a later step overwrites neither an answer that was sent nor the start that was sent with the session',
  async (t) => {
    const opening = spike(0.25, 0);
    const start = opening.start.slice();
    const session = new DirectSession(opening, createCpuEngine());
    await session.open();
    const sent = [];
    for (const height of HEIGHTS) {
      const { positions } = await session.step(tipAt(height));
      sent.push({ positions, copy: positions.slice() });
    }
    for (const { positions, copy } of sent) t.same(positions, copy);
    t.same(opening.start, start);
  },
);

t.test('preparing the start between two steps changes no answer', async (t) => {
  const sessions = [0, 1].map(() => new DirectSession(spike(0.25, 0), createCpuEngine()));
  for (const session of sessions) await session.open();
  const [ready, late] = sessions as [DirectSession, DirectSession];
  for (const height of HEIGHTS) {
    ready.scenes.prepareStart(ready.state.key);
    const [a, b] = [await ready.step(tipAt(height)), await late.step(tipAt(height))];
    t.same(a.positions, b.positions);
    t.same({ ...a.report, timings: 0 }, { ...b.report, timings: 0 });
  }
  ready.scenes.prepareStart(-1);
});

t.test('an engine that ends with −0 starts from +0 the next time, as if its scene had been lost', async (t) => {
  const starts: Float32Array[] = [];
  const engine = fakeEngine((step) => {
    starts.push(step.x.slice());
    return resolution(
      step,
      step.y.map((y) => (y === 0 ? -0 : y)),
      'CONVERGED',
      1,
    );
  });
  const session = new DirectSession(spike(1, 0), engine);
  await session.open();
  await session.step(tipAt(0.9));
  await session.step(tipAt(0.8));
  t.ok(starts[1]!.includes(0));
  t.notOk(starts[1]!.some((x) => Object.is(x, -0)));
});

t.test('sessions of different sizes that share a lane answer like each alone', async (t) => {
  const big = () => {
    const { mesh, start } = spike(1, 0);
    return {
      mesh: { ...mesh, vertexCount: mesh.vertexCount + 3 },
      start: Float32Array.of(...start, 9, 9, 9, 8, 8, 8, 7, 7, 7),
    };
  };
  const halfway = () => fakeEngine((step) => resolution(step, between(step.x, step.y, 0.5), 'STALLED', 1));
  const targetOf = (isBig: boolean, height: number) =>
    isBig ? Float32Array.of(...tipAt(height), 9, 9, 9, 8, 8, 8, 7, 7, height) : tipAt(height);
  const small = new DirectSession(spike(1, 0), halfway());
  const other = new DirectSession(big(), halfway());
  const alone = [new DirectSession(spike(1, 0), halfway()), new DirectSession(big(), halfway())];
  // One lane: its scenes share the memory for images.
  Object.assign(other, { scenes: small.scenes });
  for (const session of [small, other, ...alone]) await session.open();
  for (const height of [0.9, 0.7, 0.8]) {
    for (const [k, session] of [small, other].entries()) {
      const expected = await alone[k]!.step(targetOf(k === 1, height));
      t.same((await session.step(targetOf(k === 1, height))).positions, expected.positions);
    }
  }
});

t.test('later steps do not change the numbers of a finding', async (t) => {
  const session = new DirectSession(spike(0.25, 0), fakeEngine(stepping(4)));
  await session.open();
  await session.step(tipAt(0.24));
  await session.step(tipAt(-0.15), { parameters: { verify: 'PATH' } });
  const [finding] = session.findings;
  t.equal(finding?.kind, 'PATH');
  const before = structuredClone(finding);
  for (const height of [0.2, 0.21, 0.22]) await session.step(tipAt(height));
  t.same(finding, before);
  t.same(finding?.request.start, tipAt(0.24));
});

/** Two layers of cloth that collide, with the given number of vertices. */
function layers(vertices: number) {
  const { vertexCount, triangles, start, target } = SCENES.layers!(vertices);
  const from = Float32Array.from(start);
  const meeting = from.map((value, k) => value + 0.5 * (target[k]! - value));
  return { vertexCount, mesh: { vertexCount, triangles }, start: from, parameters: {}, meeting };
}

t.test('an idle session holds less than 31 bytes per pair and 450 per vertex, all counted', async (t) => {
  const scene = layers(1250);
  const session = new DirectSession(scene, createCpuEngine());
  const opened = await session.open();
  const { report, residentBytes } = await session.step(scene.meeting);
  const pairs = report.pairs.vertexTriangle + report.pairs.edgeEdge;
  t.comment(`${scene.vertexCount} vertices, ${pairs} pairs: ${opened.residentBytes} bytes, then ${residentBytes}`);
  t.ok(opened.residentBytes <= 450 * scene.vertexCount, `${opened.residentBytes / scene.vertexCount} bytes a vertex`);
  t.ok(residentBytes >= 29 * pairs, 'the pairs are in it');
  t.ok(residentBytes <= 31 * pairs + 450 * scene.vertexCount, `${residentBytes} bytes`);
});

t.test('the memory that the verifier keeps for a mesh, the mesh and the state are counted', async (t) => {
  const scene = layers(200);
  const session = new DirectSession(scene, fakeEngine(stepping(1)));
  await session.open();
  const { residentBytes } = await session.step(scene.meeting);
  const held = session.scenes.find(session.state.key)!;
  const { mesh, input } = held.held;
  const tree = bytesOf(keptFor(mesh)) - bytesOf(mesh.edges, mesh.triangles, mesh.contactVertices, mesh.particles);
  t.ok(tree > 20 * scene.vertexCount, `${tree} bytes of trees`);
  const state = held.state.positions.byteLength;
  t.ok(residentBytes >= tree + bytesOf(mesh, input) + state, `${residentBytes} bytes`);
  session.scenes.prepareStart(session.state.key);
  t.equal(held.bytes, residentBytes, 'what is done between two steps was counted before');
});

t.test('the memory for images of targets is counted, and freed when a scene is dropped', async (t) => {
  const session = new DirectSession(spike(1, 0), fakeEngine(stepping(1)));
  await session.open();
  t.equal(session.scenes.sharedBytes, 0);
  await session.step(tipAt(0.9));
  await session.step(tipAt(0.8));
  t.equal(session.scenes.sharedBytes, 4 * spike(1, 0).start.length);
  session.scenes.drop(session.state.key);
  t.equal(session.scenes.sharedBytes, 0);
  t.equal(session.scenes.heldOf(session.state.key), undefined);
});
