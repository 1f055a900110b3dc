import t from 'tap';
import { measureFidelity } from '../../../bench/fidelity/measure.js';
import { buildMesh } from '../../../src/mesh/build.js';

/** One triangle with edges of 3, 4 and 5, its first vertex kinematic. */
const mesh = buildMesh({
  vertexCount: 3,
  triangles: Uint32Array.of(0, 1, 2),
  kinematic: Uint8Array.of(1, 0, 0),
});
const target = Float64Array.of(0, 0, 0, 3, 0, 0, 0, 4, 0);

t.test('distances are over dynamic vertices', async (t) => {
  const x = Float64Array.of(9, 9, 9, 3, 0, 2, 0, 4, 0);
  const { rms, max } = measureFidelity(mesh, x, target, 1.1);
  t.equal(max, 2);
  t.equal(rms, Math.sqrt(4 / 2));
});

t.test('edges: the difference of vectors over the mean length, and those beyond σ', async (t) => {
  // The third vertex is moved along its edge to the first: 4 becomes 6.
  const x = Float64Array.of(0, 0, 0, 3, 0, 0, 0, 6, 0);
  const { edgeError, overlong, maxStretch } = measureFidelity(mesh, x, target, 1.1);
  t.ok(Math.abs(edgeError - Math.sqrt((4 + 4) / 3) / 4) < 1e-12, `edge error ${edgeError}`);
  t.equal(overlong, 2);
  t.equal(maxStretch, 1.5);
  t.equal(measureFidelity(mesh, x, target, 1.4).overlong, 1);
  t.equal(measureFidelity(mesh, x, target, 0).overlong, 0, 'no limit');
});

t.test('what arrived has no distance, no error and no stretch', async (t) => {
  t.same(measureFidelity(mesh, target, target, 1.1), { rms: 0, max: 0, edgeError: 0, overlong: 0, maxStretch: 1 });
});
