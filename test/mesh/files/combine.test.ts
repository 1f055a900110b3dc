import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { assertSameTopology, concatenate, readMesh, toMeshInput } from '../../../src/mesh/files/index.js';
import type { MeshFile } from '../../../src/mesh/files/types.js';

const obj = (text: string): Promise<MeshFile> => readMesh([Buffer.from(text)], 'obj');
const cloud = (type: string, count: number): Promise<MeshFile> => {
  const header = [
    'ply',
    'format ascii 1.0',
    `element vertex ${count}`,
    ...['x', 'y', 'z'].map((axis) => `property ${type} ${axis}`),
  ];
  const body = Array.from({ length: count }, (_, i) => `${i} 0.1 0`);
  return readMesh([Buffer.from([...header, 'end_header', ...body].join('\n'))], 'ply');
};
const SQUARE = 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n';

t.test('a file becomes the input of a mesh', async (t) => {
  const file = await obj(`${SQUARE}v 5 5 5\nv 6 5 5\nv 7 5 5\nf 1 2 3 4\nl 5 6\np 7`);
  const mesh = buildMesh(toMeshInput(file));
  t.same(mesh.sent, { triangles: 2, segments: 1, particles: 1, tetrahedra: 0 });
  t.equal(mesh.components, 3);
});

t.test('several files become one mesh: ids are shifted, order and precision are kept', async (t) => {
  const quad = await obj(`${SQUARE}f 1 2 3 4\n`);
  const sand = await cloud('float', 2);
  const rod = await obj('v 0 0 0\nv 0 0 1\nl 1 2\n');
  const { file, ranges } = concatenate([quad, sand, rod]);
  t.match(file, { format: 'obj', scalar: 'FLOAT64', vertexCount: 8 });
  t.notOk('plyEncoding' in file);
  t.same(ranges, [
    { firstVertex: 0, vertexCount: 4 },
    { firstVertex: 4, vertexCount: 2 },
    { firstVertex: 6, vertexCount: 2 },
  ]);
  t.same([...file.positions], [...quad.positions, ...sand.positions, ...rod.positions]);
  t.equal(file.positions[13], Math.fround(0.1));
  t.same([...file.triangles], [0, 1, 2, 0, 2, 3]);
  t.same([...file.particles], [4, 5]);
  t.same([...file.segments], [6, 7]);
  const twice = concatenate([quad, quad]).file;
  t.same([...twice.faceVertices], [0, 1, 2, 3, 4, 5, 6, 7]);
  t.same([...twice.faceSizes], [4, 4]);
});

t.test('single precision only if all are; the first file decides the format', async (t) => {
  const [single, double] = [await cloud('float', 1), await cloud('double', 1)];
  t.match(concatenate([single, single]).file, { format: 'ply', plyEncoding: 'ascii', scalar: 'FLOAT32' });
  const mixed = concatenate([single, double]).file;
  t.equal(mixed.scalar, 'FLOAT64');
  t.equal(mixed.positions[4], 0.1);
  t.equal(mixed.positions[1], Math.fround(0.1));
  t.throws(() => concatenate([]), { code: 'INVALID_MESH' });
});

t.test('a target lists the elements of its start, or none', async (t) => {
  const start = await obj(`${SQUARE}f 1 2 3 4\nl 1 3\n`);
  const same = (target: MeshFile) => () => assertSameTopology(start, target);
  t.doesNotThrow(same(start));
  t.doesNotThrow(same(await obj(SQUARE)));
  t.doesNotThrow(same(await obj(`${SQUARE}f 1 2 3 4\n`)), 'segments absent');
  t.doesNotThrow(same(await obj(`${SQUARE}f 1 2 3\nf 1 3 4\n`)), 'the same triangles in other polygons');
  t.doesNotThrow(same(await cloud('double', 4)), 'a PLY of vertices lists nothing');
  t.throws(same(await obj(`${SQUARE}v 0 0 1\n`)), { code: 'SIZE_MISMATCH', message: /target has 5 vertices.* 4/ });
  t.throws(same(await cloud('double', 3)), { code: 'SIZE_MISMATCH' });
  t.throws(same(await obj(`${SQUARE}f 1 2 3\n`)), { code: 'INVALID_MESH', message: /1 triangles.* 2/ });
  t.throws(same(await obj(`${SQUARE}f 1 2 3\nf 1 2 4\n`)), {
    code: 'INVALID_MESH',
    message: /The target's triangle 1/,
    element: { kind: 'triangle', index: 1, vertices: [0, 1, 3] },
  });
  const fan = await obj(`${SQUARE}f 1 2 3\nf 1 2 4\n`);
  t.throws(() => assertSameTopology(start, fan, { start: 'start', target: 'shape at rest' }), {
    message: /^The shape at rest's triangle 1/,
    hint: /out of the shape at rest/,
  });
  t.throws(same(await obj(`${SQUARE}l 1 4\n`)), { code: 'INVALID_MESH', message: /segment 0/ });
  t.throws(same(await obj(`${SQUARE}p 1\n`)), { code: 'INVALID_MESH', message: /1 particles; the start has 0/ });
});

t.test('a point cloud matches itself, and a file with other particles does not match', async (t) => {
  const start = await cloud('float', 3);
  t.doesNotThrow(() => assertSameTopology(start, start));
  const sand = await obj('v 0 0 0\nv 0 0 1\np 1\n');
  t.throws(() => assertSameTopology(sand, { ...sand, particles: Uint32Array.of(1) }), { code: 'INVALID_MESH' });
});
