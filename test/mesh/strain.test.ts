import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { MeshInput } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import { checkRestShapes } from '../../src/mesh/strain.js';

const rest = Float32Array.of(0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1);
const base = { vertexCount: 4, triangles: Uint32Array.of(0, 1, 2), tetrahedra: Uint32Array.of(0, 1, 2, 3) };
const strainLimits = { rest, min: 0.9, max: 1.1 };

t.test('gradients of shape functions are computed, those of triangles first', (t) => {
  const { strain } = buildMesh({ ...base, strainLimits });
  t.same([...strain!.corners], [0, 1, 2, 0xffffffff, 0, 1, 2, 3]);
  t.same([...strain!.gradients.subarray(0, 9)], [1 / 2, -0, 0, 0, 1 / 3, 0, 0, 0, 0]);
  t.same([...strain!.gradients.subarray(9)].map(Math.abs), [1 / 2, 0, 0, 0, 1 / 3, 0, 0, 0, 1]);
  t.equal(strain!.triangleCount, 1);
  t.notOk(buildMesh(base).strain);
  t.end();
});

t.test('parts have limits of their own; an element that joins two has the wider ones', (t) => {
  const parts = [
    { name: 'a', firstVertex: 0, vertexCount: 3, strainMin: 0.5 },
    { name: 'b', firstVertex: 3, vertexCount: 1, strainMax: 2 },
  ];
  const { strain } = buildMesh({ ...base, parts, strainLimits });
  t.same([...strain!.least], [0.5, 0.5]);
  t.same([...strain!.most], [1.1, 2]);
  t.end();
});

t.test('invalid strain limits are refused', (t) => {
  const flat = rest.slice();
  flat[11] = 0;
  const infinite = rest.slice();
  infinite[4] = Number.POSITIVE_INFINITY;
  const part = { name: 'a', firstVertex: 0, vertexCount: 4, strainMax: 2 };
  const cases: readonly [Partial<MeshInput>, object][] = [
    [{ strainLimits: { rest: rest.subarray(3), max: 2 } }, { code: 'SIZE_MISMATCH' }],
    [{ strainLimits: { rest: infinite, max: 2 } }, { code: 'NOT_FINITE', details: { element: { index: 1 } } }],
    [
      { strainLimits: { rest: flat, max: 2 } },
      { code: 'INVALID_MESH', details: { element: { kind: 'tetrahedron', index: 0 } } },
    ],
    [
      { strainLimits: { rest: new Float32Array(12), max: 2 } },
      { code: 'INVALID_MESH', details: { element: { kind: 'triangle', index: 0 } } },
    ],
    [{ strainLimits: { rest, min: -0.1 } }, { code: 'INVALID_PARAMETER' }],
    [{ strainLimits: { rest, min: 1.1 } }, { code: 'INVALID_PARAMETER' }],
    [{ strainLimits: { rest, max: 0.9 } }, { code: 'INVALID_PARAMETER' }],
    [{ strainLimits: { rest, min: 1, max: 1 } }, { code: 'INVALID_PARAMETER' }],
    [{ strainLimits: { rest, max: Number.NaN } }, { code: 'INVALID_PARAMETER' }],
    [{ parts: [part] }, { code: 'INVALID_PARAMETER', details: { element: { kind: 'part' } } }],
    [
      { triangles: new Uint32Array(0), tetrahedra: new Uint32Array(0), segments: Uint32Array.of(0, 1), strainLimits },
      { code: 'INVALID_MESH' },
    ],
  ];
  cases.forEach(([change, error], index) => {
    const refusal = refusalOf(() => buildMesh({ ...base, ...change }));
    t.match(refusal, error, `case ${index}`);
  });
  t.end();
});

function refusalOf(build: () => unknown): object {
  try {
    build();
  } catch (thrown) {
    if (thrown instanceof IntersticeError) return thrown.toPlain();
    throw thrown;
  }
  return {};
}

t.test('a shape at rest that is too small is refused with its smallest height', async (t) => {
  // Vertex 1 is 1/√3 above the plane of the others, across all three axes.
  const oblique = Float32Array.of(0, 0, 0, 1, 0, 0, -2, 2, 0, -2, 0, 2);
  const tetrahedra = Uint32Array.of(0, 1, 2, 3);
  const { strain } = buildMesh({ vertexCount: 4, tetrahedra, strainLimits: { ...strainLimits, rest: oblique } });
  t.doesNotThrow(() => checkRestShapes(strain, 2 ** 29));
  t.throws(() => checkRestShapes(strain, 2 ** 31), {
    code: 'INVALID_PARAMETER',
    element: { kind: 'tetrahedron', index: 0, vertices: [0, 1, 2, 3] },
    message: /^The height of tetrahedron 0 in mesh\.strainLimits\.rest is 0\.577/,
  });
});
