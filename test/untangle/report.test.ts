import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { measureStretch } from '../../src/untangle/report.js';

/** Four tetrahedra around the axis of an octahedron, the only edge that is not on its surface. */
const OCTAHEDRON = {
  vertexCount: 6,
  tetrahedra: Uint32Array.from([0, 1, 2, 3, 0, 1, 3, 4, 0, 1, 4, 5, 0, 1, 5, 2]),
};
const scaledAlongAxis = (scale: number) =>
  Float64Array.from([0, 0, -scale, 0, 0, scale, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0]);

t.test('edges inside solids count as stretched', async (t) => {
  const mesh = buildMesh(OCTAHEDRON);
  t.same([...mesh.innerEdges], [0, 1]);
  const start = scaledAlongAxis(1);
  t.same(measureStretch(mesh, scaledAlongAxis(2), start), { maxStretch: 2, minStretch: 1 });
  t.same(measureStretch(mesh, scaledAlongAxis(0.5), start), { maxStretch: 1, minStretch: 0.5 });
  const rest = { positions: scaledAlongAxis(0.5) };
  t.equal(measureStretch(buildMesh({ ...OCTAHEDRON, restLengths: rest }), start, start).maxStretch, 2, 'at rest');
});
