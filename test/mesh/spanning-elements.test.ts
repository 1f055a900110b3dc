import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';

const part = (name: string, firstVertex: number, vertexCount: number) => ({ name, firstVertex, vertexCount });
const parts = [part('sleeve', 0, 2), part('cuff', 2, 1), part('arm', 3, 3)];

t.test('a mesh whose ignored part shares an element with another is refused, and the element named', async (t) => {
  const mesh = { vertexCount: 6, triangles: Uint32Array.of(3, 4, 5, 0, 1, 2), parts };
  t.throws(() => buildMesh({ ...mesh, ignoredPartPairs: Uint32Array.of(0, 2) }), {
    code: 'UNIMPLEMENTED',
    message: /triangle 1 spans the parts sleeve and cuff/,
    element: { kind: 'triangle', index: 1, vertices: [0, 1, 2] },
  });
  t.throws(() => buildMesh({ ...mesh, ignoredPartPairs: Uint32Array.of(1, 1) }), { code: 'UNIMPLEMENTED' });
  t.doesNotThrow(() => buildMesh(mesh), 'spanning alone is no harm');
  t.doesNotThrow(() => buildMesh({ ...mesh, ignoredPartPairs: Uint32Array.of(2, 2) }), 'nor is ignoring elsewhere');
});

t.test('segments and tetrahedra too', async (t) => {
  const ignoredPartPairs = Uint32Array.of(0, 2);
  t.throws(() => buildMesh({ vertexCount: 6, segments: Uint32Array.of(1, 2), parts, ignoredPartPairs }), {
    code: 'UNIMPLEMENTED',
    element: { kind: 'segment', index: 0 },
  });
  t.throws(() => buildMesh({ vertexCount: 6, tetrahedra: Uint32Array.of(0, 1, 2, 3), parts, ignoredPartPairs }), {
    code: 'UNIMPLEMENTED',
    element: { kind: 'tetrahedron', index: 0 },
  });
});
