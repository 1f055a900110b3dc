import t from 'tap';
import type { MeshInput } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import { invertMasses } from '../../src/mesh/vertex-data.js';

const triangle: MeshInput = { vertexCount: 4, triangles: Uint32Array.of(0, 1, 2), particles: Uint32Array.of(3) };
const masses = (...values: number[]): MeshInput => ({ ...triangle, masses: Float32Array.from(values) });

t.test('inverse masses are relative to the mean of the dynamic vertices', async (t) => {
  const mesh = buildMesh({ ...masses(1, 2, 3, 100), kinematic: Uint8Array.of(0, 0, 0, 1) });
  t.same([...mesh.inverseMasses], [2, 1, Math.fround(2 / 3), 0]);
});

t.test('uniform masses give exactly 1, whatever the mass', async (t) => {
  t.same([...buildMesh(masses(0.1, 0.1, 0.1, 0.1)).inverseMasses], [1, 1, 1, 1]);
  const many = invertMasses(new Float32Array(10_007).fill(0.1), new Uint8Array(10_007));
  t.ok(many.every((inverse) => inverse === 1));
});

t.test('all vertices may be kinematic', async (t) => {
  const mesh = buildMesh({ ...masses(1, 2, 3, 4), kinematic: new Uint8Array(4).fill(1) });
  t.same([...mesh.inverseMasses], [0, 0, 0, 0]);
  t.same([...mesh.kinematic], [1, 1, 1, 1]);
});

t.test('a kinematic flag is 0 or 1', async (t) => {
  t.throws(() => buildMesh({ ...triangle, kinematic: Uint8Array.of(0, 1, 255, 1) }), {
    code: 'INVALID_MESH',
    message: 'kinematic of vertex 2 is 255; it must be 0 or 1.',
    element: { kind: 'vertex', index: 2 },
  });
});

t.test('invalid masses are refused, also for kinematic vertices', async (t) => {
  const at = (index: number) => ({ element: { kind: 'vertex', index, vertices: [index] } });
  t.throws(() => buildMesh(masses(1, Number.NaN, 1, 1)), { code: 'NOT_FINITE', ...at(1) });
  t.throws(() => buildMesh(masses(1, 1, Number.POSITIVE_INFINITY, 1)), { code: 'NOT_FINITE', ...at(2) });
  t.throws(() => buildMesh(masses(1, 1, 1, 0)), { code: 'INVALID_MESH', ...at(3) });
  t.throws(() => buildMesh(masses(-1, 1, 1, 1)), { code: 'INVALID_MESH', ...at(0) });
  const kinematic = Uint8Array.of(0, 0, 0, 1);
  t.throws(() => buildMesh({ ...masses(1, 1, 1, 0), kinematic }), {
    code: 'INVALID_MESH',
    hint: /^The vertex is kinematic/,
    ...at(3),
  });
});

t.test('a mass that would turn into kinematic, or into infinity, by rounding is refused', async (t) => {
  t.throws(() => buildMesh(masses(1e-30, 1e-30, 1e-30, 1e30)), { code: 'INVALID_MESH', element: { index: 0 } });
  const values = [...new Array<number>(3).fill(1e-9), 3e38];
  t.throws(() => buildMesh(masses(...values)), { code: 'INVALID_MESH' });
});

t.test('new masses of the wrong length are refused on their own, too', async (t) => {
  t.throws(() => invertMasses(new Float32Array(3), new Uint8Array(4)), { code: 'SIZE_MISMATCH' });
});

t.test('parts name ranges, and may be kinematic as a whole', async (t) => {
  const mesh = buildMesh({
    vertexCount: 4,
    segments: Uint32Array.of(0, 1, 2, 3),
    kinematic: Uint8Array.of(1, 0, 0, 0),
    parts: [
      { name: 'cloth', firstVertex: 0, vertexCount: 2 },
      { name: 'body', firstVertex: 2, vertexCount: 2, kinematic: true },
    ],
    ignoredPartPairs: Uint32Array.of(1, 0, 1, 1),
  });
  t.same([...mesh.partOfVertex], [0, 0, 1, 1]);
  t.same([...mesh.kinematic], [1, 0, 1, 1]);
  t.same([...mesh.inverseMasses], [0, 1, 0, 0]);
  t.same([...mesh.ignoredPartPairs], [0, 1, 1, 1], 'lower index first');
  t.same(mesh.parts, [
    { name: 'cloth', firstVertex: 0, vertexCount: 2 },
    { name: 'body', firstVertex: 2, vertexCount: 2 },
  ]);
});

t.test('parts cover all vertices in order, each under its own name', async (t) => {
  const parts = (...rows: [string, number, number][]): MeshInput => ({
    ...triangle,
    parts: rows.map(([name, firstVertex, vertexCount]) => ({ name, firstVertex, vertexCount })),
  });
  const cases: [MeshInput, RegExp][] = [
    [parts(['a', 0, 2], ['b', 3, 1]), /Part 1 \("b"\) starts at vertex 3; it must start at vertex 2/],
    [parts(['a', 0, 2], ['b', 1, 3]), /Part 1 .* starts at vertex 1; it must start at vertex 2/],
    [parts(['a', 2, 2], ['b', 0, 2]), /Part 0 .* starts at vertex 2; it must start at vertex 0/],
    [parts(['a', 0, 2], ['b', 2, 1]), /end at vertex 3, but there are 4/],
    [parts(['a', 0, 2], ['b', 2, 3]), /Part 1 .* ends at vertex 5/],
    [parts(['a', 0, 2], ['a', 2, 2]), /Part 1 .* has the name of part 0/],
    [parts(['', 0, 4]), /Part 0 .* has no name/],
    [parts(['a', 0, 2], ['𝒷'.repeat(257), 2, 2]), /^Part 1 \("𝒷{32}…"\) has a name of more than 256 characters/u],
    [parts(['b'.repeat(5_000_000), 0, 4]), /^Part 0 \("b{64}…"\) has a name of more than 256 characters/],
    [parts(['a', 0, 4], ['b', 4, 0]), /Part 1 .* has 0 vertices/],
    [parts(['a', 0, 1.5], ['b', 1.5, 2.5]), /Part 0 .* has 1.5 vertices/],
  ];
  for (const [input, message] of cases) t.throws(() => buildMesh(input), { code: 'INVALID_MESH', message });
  t.doesNotThrow(() => buildMesh(parts(['𝒷'.repeat(256), 0, 4])), 'a character of two units is one');
});

t.test('ignored pairs name parts that exist', async (t) => {
  const parts = [{ name: 'all', firstVertex: 0, vertexCount: 4 }];
  const ignoredPartPairs = Uint32Array.of(0, 0, 0, 1);
  t.throws(() => buildMesh({ ...triangle, parts, ignoredPartPairs }), {
    code: 'INDEX_OUT_OF_RANGE',
    message: /pair 1 \(0, 1\)/,
  });
  t.throws(() => buildMesh({ ...triangle, ignoredPartPairs: Uint32Array.of(0, 0) }), { code: 'INDEX_OUT_OF_RANGE' });
});
