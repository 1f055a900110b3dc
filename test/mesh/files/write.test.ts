import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import {
  formatOf,
  guessFormat,
  readMesh,
  readMeshFile,
  writeMesh,
  writeMeshFile,
} from '../../../src/mesh/files/index.js';
import type { MeshFile } from '../../../src/mesh/files/types.js';
import { seeded } from '../../support/random.js';

const { seed } = seeded();
t.comment(`seed ${seed}`);

const ids = (...values: number[]): Uint32Array => Uint32Array.from(values);
const text = (file: MeshFile, format: 'obj' | 'ply'): string =>
  Buffer.concat([...writeMesh(file, format)]).toString('latin1');

const bare: MeshFile = {
  format: 'obj',
  scalar: 'FLOAT64',
  vertexCount: 4,
  positions: Float64Array.of(0, 0, 0, 0.1, 0, 0, 1, 1, -0, 1e-7, 1, 0),
  triangles: ids(0, 1, 2, 0, 2, 3),
  segments: ids(),
  particles: ids(),
  faceSizes: ids(4),
  faceVertices: ids(0, 1, 2, 3),
};

t.test('an OBJ file is written as text', async (t) => {
  t.equal(
    text({ ...bare, segments: ids(0, 3), particles: ids(2) }, 'obj'),
    'v 0 0 0\nv 0.1 0 0\nv 1 1 -0\nv 1e-7 1 0\nf 1 2 3 4\nl 1 4\np 3\n',
  );
  const single = { ...bare, scalar: 'FLOAT32' as const, positions: Float32Array.from(bare.positions) };
  t.match(text(single, 'obj'), 'v 0.10000000149011612 0 0', 'the very double that the float32 is');
});

t.test('a PLY file is written as text', async (t) => {
  const file: MeshFile = {
    ...bare,
    plyEncoding: 'ascii',
    scalar: 'FLOAT32',
    positions: Float32Array.from(bare.positions),
    segments: ids(0, 3),
    particles: ids(2),
  };
  t.equal(
    text(file, 'ply'),
    [
      'ply',
      'format ascii 1.0',
      'element vertex 4',
      'property float x',
      'property float y',
      'property float z',
      'element face 1',
      'property list uchar int vertex_indices',
      'element edge 1',
      'property int vertex1',
      'property int vertex2',
      'element point 1',
      'property int vertex_index',
      'end_header',
      '0 0 0',
      '0.1 0 0',
      '1 1 -0',
      '1e-7 1 0',
      '4 0 1 2 3',
      '0 3',
      '2',
      '',
    ].join('\n'),
  );
});

t.test('a PLY without a chosen encoding is written in little-endian', async (t) => {
  t.match(text(bare, 'ply'), /^ply\nformat binary_little_endian 1.0\n/);
});

const meshFiles: fc.Arbitrary<MeshFile> = fc
  .record({
    format: fc.constantFrom('obj' as const, 'ply' as const),
    plyEncoding: fc.constantFrom('ascii' as const, 'binary_little_endian' as const, 'binary_big_endian' as const),
    scalar: fc.constantFrom('FLOAT32' as const, 'FLOAT64' as const),
    vertexCount: fc.integer({ min: 3, max: 12 }),
  })
  .chain((head) => {
    const { vertexCount } = head;
    const finite = { noNaN: true, noDefaultInfinity: true, minLength: 3 * vertexCount, maxLength: 3 * vertexCount };
    const vertex = fc.nat(vertexCount - 1);
    const polygon = fc.uniqueArray(vertex, { minLength: 3, maxLength: vertexCount });
    return fc
      .record({
        positions: head.scalar === 'FLOAT32' ? fc.float32Array(finite) : fc.float64Array(finite),
        polygons: fc.array(polygon, { maxLength: 6 }),
        segments: fc.array(fc.uniqueArray(vertex, { minLength: 2, maxLength: 2 }), { maxLength: 5 }),
        particles: fc.uniqueArray(vertex, { maxLength: 5 }),
      })
      .map(({ positions, polygons, segments, particles }) => ({
        ...head,
        positions,
        triangles: ids(...polygons.flatMap((p) => p.slice(2).flatMap((_, i) => [p[0]!, p[i + 1]!, p[i + 2]!]))),
        segments: ids(...segments.flat()),
        particles: ids(...particles),
        faceSizes: ids(...polygons.map((p) => p.length)),
        faceVertices: ids(...polygons.flat()),
      }));
  });

const bitsOf = ({ positions }: MeshFile): string =>
  Buffer.from(positions.buffer, positions.byteOffset, positions.byteLength).toString('hex');

t.test('what is written reads back, bit for bit', async (t) => {
  const property = fc.asyncProperty(meshFiles, async (file) => {
    const back = await readMesh(writeMesh(file, file.format), file.format);
    const isObj = file.format === 'obj';
    const expected: MeshFile = {
      ...file,
      plyEncoding: isObj ? undefined : file.plyEncoding,
      scalar: isObj ? 'FLOAT64' : file.scalar,
      positions: isObj ? Float64Array.from(file.positions) : file.positions,
    };
    t.equal(bitsOf(back), bitsOf(expected), 'positions');
    for (const key of ['triangles', 'segments', 'particles', 'faceSizes', 'faceVertices'] as const) {
      t.same([...back[key]], [...expected[key]], key);
    }
    const { format, scalar, vertexCount, plyEncoding } = back;
    t.same(
      { format, scalar, vertexCount, plyEncoding },
      {
        format: expected.format,
        scalar: expected.scalar,
        vertexCount: expected.vertexCount,
        plyEncoding: expected.plyEncoding,
      },
    );
    return t.passing();
  });
  await fc.assert(property, { seed, numRuns: 150 });
});

t.test('point clouds, vertices without elements and wide polygons are kept', async (t) => {
  const none = { triangles: ids(), faceSizes: ids(), faceVertices: ids() };
  const cloud: MeshFile = { ...bare, ...none, format: 'ply', particles: ids(0, 1, 2, 3) };
  t.notMatch(text(cloud, 'ply'), /element point/, 'as any program writes a cloud');
  t.same([...(await readMesh(writeMesh(cloud, 'ply'), 'ply')).particles], [0, 1, 2, 3]);
  const vertices: MeshFile = { ...cloud, particles: ids() };
  t.equal((await readMesh(writeMesh(vertices, 'ply'), 'ply')).particles.length, 0);
  const count = 300;
  const corners = Uint32Array.from({ length: count }, (_, i) => i);
  const wide: MeshFile = {
    ...bare,
    vertexCount: count,
    positions: new Float64Array(3 * count),
    faceSizes: ids(count),
    faceVertices: corners,
  };
  for (const plyEncoding of ['ascii', 'binary_big_endian'] as const) {
    const back = await readMesh(writeMesh({ ...wide, plyEncoding }, 'ply'), 'ply');
    t.same([...back.faceVertices], [...corners], plyEncoding);
  }
});

t.test('chunks are of moderate size, and each is its own', async (t) => {
  const vertexCount = 20_000;
  const positions = Float64Array.from({ length: 3 * vertexCount }, (_, i) => i / 7);
  for (const format of ['obj', 'ply'] as const) {
    const file: MeshFile = { ...bare, vertexCount, positions };
    const chunks = [...writeMesh(file, format)];
    t.ok(
      chunks.every(({ length }) => length <= 70_000),
      format,
    );
    t.ok(chunks.length < 40);
    t.equal(bitsOf(await readMesh(chunks, format)), bitsOf(file));
  }
});

t.test('what cannot be written is refused before the first byte', async (t) => {
  t.throws(() => writeMesh({ ...bare, positions: Float64Array.of(1) }, 'obj'), { code: 'SIZE_MISMATCH' });
  t.throws(() => writeMesh({ ...bare, positions: new Float64Array(12).fill(Number.NaN) }, 'ply'), {
    code: 'NOT_FINITE',
  });
  t.throws(() => writeMesh({ ...bare, scalar: 'FLOAT32' }, 'ply'), { code: 'SIZE_MISMATCH' });
});

t.test('the name of a file decides the format', async (t) => {
  t.equal(formatOf('a.obj'), 'obj');
  t.equal(formatOf('folder.obj/b.PLY'), 'ply');
  t.throws(() => formatOf('a.stl'), { code: 'UNSUPPORTED_MEDIA_TYPE', message: /a\.stl/ });
  for (const stream of ['-', '/dev/stdin'])
    t.throws(() => formatOf(stream), { code: 'UNSUPPORTED_MEDIA_TYPE', hint: /not from standard input/ });
  t.equal(guessFormat('obj'), undefined);
});

t.test('files are written to disk', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'interstice-mesh-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'quad.obj');
  await writeMeshFile(path, bare);
  t.equal(await readFile(path, 'latin1'), text(bare, 'obj'));
  t.equal(bitsOf(await readMeshFile(path)), bitsOf(bare));
  await writeMeshFile(join(folder, 'quad.ply'), bare);
  t.match(await readMeshFile(join(folder, 'quad.ply')), { format: 'ply', plyEncoding: 'binary_little_endian' });
  await t.rejects(readMeshFile(join(folder, 'quad.stl')), { code: 'UNSUPPORTED_MEDIA_TYPE' });
  await t.rejects(readMeshFile(join(folder, 'absent.obj')), { code: 'ENOENT' });
  await writeMeshFile(path, { ...bare, faceVertices: ids(0, 1, 2, 9) });
  await t.rejects(readMeshFile(path), {
    code: 'INDEX_OUT_OF_RANGE',
    message: /quad\.obj: Line 5: face 0 .* vertex 10/,
  });
});
