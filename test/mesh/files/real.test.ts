import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import {
  assertSameTopology,
  type MeshFile,
  readMesh,
  readMeshFile,
  toMeshInput,
  writeMesh,
} from '../../../src/mesh/files/index.js';
import { measureMesh } from '../../../src/mesh/measure.js';

const folder = process.env.INTERSTICE_DATA;
const needsData = folder ? {} : { skip: 'INTERSTICE_DATA names no folder of real meshes' };
const open = (path: string): Promise<MeshFile> => readMeshFile(join(folder!, path));
const digest = (array: ArrayBufferView): string =>
  createHash('sha256')
    .update(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
    .digest('hex');

const meshes = [
  { path: 'dress/x.obj', vertices: 27_831, faces: 52_882, scalar: 'FLOAT64', unused: 0 },
  { path: 'thick_cloth/x.ply', vertices: 233, faces: 404, scalar: 'FLOAT64', unused: 0 },
  { path: 'cloth_ball/cloth_ball92.ply', vertices: 46_598, faces: 92_230, scalar: 'FLOAT32', unused: 0 },
  { path: 'static/two-cubes-close.ply', vertices: 262, faces: 480, scalar: 'FLOAT64', unused: 18 },
  { path: 'static/spot.obj', vertices: 2930, faces: 5856, scalar: 'FLOAT64', unused: 0 },
  { path: 'static/height-field.ply', vertices: 2540, faces: 4904, scalar: 'FLOAT64', unused: 0 },
] as const;

for (const { path, vertices, faces, scalar, unused } of meshes) {
  t.test(path, needsData, async (t) => {
    const file = await open(path);
    t.match(file, { vertexCount: vertices, scalar, faceSizes: { length: faces }, segments: { length: 0 } });
    const mesh = buildMesh(toMeshInput(file));
    t.equal(mesh.triangles.length / 3, faces);
    t.equal(mesh.rodStart, mesh.edges.length / 2);
    t.equal(mesh.warnings[0]?.count ?? 0, unused);
    t.equal(mesh.contactVertices.length, vertices - unused);
    const { medianEdge, minHeight, warnings } = measureMesh(mesh, file.positions);
    t.ok(medianEdge > minHeight && minHeight > 0);
    t.same(warnings, []);
    for (const format of ['obj', 'ply'] as const) {
      const back = await readMesh(writeMesh(file, format), format);
      const expected = format === 'obj' ? Float64Array.from(file.positions) : file.positions;
      t.equal(digest(back.positions), digest(expected), `the same numbers after ${format}`);
      t.equal(digest(back.faceVertices), digest(file.faceVertices), `the same faces after ${format}`);
    }
  });
}

t.test('the dress is read with the numbers of its file, and its target matches', needsData, async (t) => {
  const [start, target] = [await open('dress/x.obj'), await open('dress/y_kick1_eighth.obj')];
  t.doesNotThrow(() => assertSameTopology(start, target));
  const lines = (await readFile(join(folder!, 'dress/x.obj'), 'latin1')).split('\n');
  const numbers = lines
    .filter((line) => line.startsWith('v '))
    .flatMap((line) => line.split(/\s+/).slice(1, 4).map(Number));
  t.equal(digest(start.positions), digest(Float64Array.from(numbers)));
});

t.test('a big-endian file reads as an independent walk over its bytes does', needsData, async (t) => {
  const file = await open('cloth_ball/cloth_ball92.ply');
  t.equal(file.plyEncoding, 'binary_big_endian');
  const bytes = await readFile(join(folder!, 'cloth_ball/cloth_ball92.ply'));
  const body = bytes.indexOf('end_header\n') + 'end_header\n'.length;
  const positions = Float32Array.from({ length: 3 * file.vertexCount }, (_, i) => bytes.readFloatBE(body + 4 * i));
  t.equal(digest(file.positions), digest(positions));
  const faces = body + 12 * file.vertexCount;
  const corners = Uint32Array.from({ length: 3 * file.faceSizes.length }, (_, i) =>
    bytes.readInt32BE(faces + 13 * Math.floor(i / 3) + 1 + 4 * (i % 3)),
  );
  t.equal(digest(file.faceVertices), digest(corners));
  t.equal(bytes.length, faces + 13 * file.faceSizes.length);
});
