import t from 'tap';
import { sew } from '../../src/diagnose/sew.js';
import { weld } from '../../src/diagnose/weld.js';
import type { MeshFile } from '../../src/mesh/files/index.js';
import { seeded } from '../support/random.js';
import { codesOf, diagnose, findingOf, type Shape, sheet, together } from './shapes.js';

const fileOf = ({ x, triangles }: Shape): MeshFile => ({
  format: 'obj',
  scalar: 'FLOAT64',
  vertexCount: x.length / 3,
  positions: Float64Array.from(x),
  triangles: Uint32Array.from(triangles),
  segments: new Uint32Array(0),
  particles: new Uint32Array(0),
  faceSizes: new Uint32Array(triangles.length / 3).fill(3),
  faceVertices: Uint32Array.from(triangles),
});
const shapeOf = ({ positions, triangles }: MeshFile): Shape => ({ x: [...positions], triangles: [...triangles] });

t.test('panels that are welded keep their ids and are accepted', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (let round = 0; round < 8; round++) {
    const n = 2 + random.int(5);
    const size = random.between(0.01, 10);
    const count = 2 + random.int(3);
    const panels = Array.from({ length: count }, (_, k) => sheet(n, size, 0, k * n * size));
    const shape = together(...panels);
    // Not one plane, and the same at both sides of a seam; noise far below an edge, as six decimals leave it.
    for (let k = 0; k < shape.x.length; k += 3) {
      shape.x[k + 2] = 0.3 * size * Math.sin(shape.x[k]! / size);
      for (let axis = 0; axis < 3; axis++) shape.x[k + axis]! += size * random.between(-1e-6, 1e-6);
    }
    const file = fileOf(shape);
    const { file: mended, welded, dropped } = weld(file);
    t.equal(welded.length, (count - 1) * (n + 1));
    t.equal(dropped, 0);
    t.same(mended.positions, file.positions, 'ids and positions stay');
    t.ok(welded.every(([from, to]) => to < from));
    const diagnosis = await diagnose(shapeOf(mended));
    t.equal(diagnosis.accepted, true, codesOf(diagnosis).join());
    t.equal(diagnosis.componentCount, 1);
    t.equal(findingOf(diagnosis, 'FLIPPED_TRIANGLES'), undefined);
    t.equal(findingOf(diagnosis, 'UNUSED_VERTICES')?.count, welded.length);
  }
});

t.test('what is apart in the second state is not welded', async (t) => {
  const shape = together(sheet(2, 1), sheet(2, 1, 0, 2));
  const moved = { ...shape, x: shape.x.map((v, k) => (k >= 27 && k % 3 === 2 ? v + 1 : v)) };
  t.equal(weld(fileOf(shape), fileOf(moved)).welded.length, 0);
  t.equal(weld(fileOf(shape), fileOf(shape)).welded.length, 3);
});

t.test('triangles that lose their extent, and equal ones, are dropped', async (t) => {
  const shape: Shape = {
    x: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0],
    triangles: [0, 1, 2, 3, 4, 5, 0, 3, 1],
  };
  const { file, dropped } = weld(fileOf(shape));
  t.equal(dropped, 2);
  t.same([...file.triangles], [0, 1, 2]);
});

t.test('open seams that are sewn keep vertices and elements and are accepted', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (let round = 0; round < 8; round++) {
    const n = 2 + random.int(5);
    const size = random.between(0.01, 10);
    const gap = size * random.between(0.05, 0.3);
    const shape = together(sheet(n, size), sheet(n, size, 0, n * size + gap));
    for (let k = 0; k < shape.x.length; k++) shape.x[k]! += gap * random.between(-0.2, 0.2);
    const file = fileOf(shape);
    const { file: mended, pairs, added } = sew(file);
    t.equal(pairs, n + 1);
    t.equal(added, 2 * n);
    t.same(mended.positions, file.positions);
    t.same(mended.triangles.slice(0, file.triangles.length), file.triangles, 'the old elements keep their places');
    const diagnosis = await diagnose(shapeOf(mended));
    t.equal(diagnosis.accepted, true, codesOf(diagnosis).join());
    t.equal(diagnosis.componentCount, 1);
    t.equal(findingOf(diagnosis, 'FLIPPED_TRIANGLES'), undefined, 'the strip has the orientation of its panels');
  }
});

t.test('borders far apart, and those at one place, are not sewn', async (t) => {
  t.equal(sew(fileOf(together(sheet(3, 1), sheet(3, 1, 0, 4)))).added, 0);
  t.equal(sew(fileOf(together(sheet(3, 1), sheet(3, 1, 0, 3)))).added, 0);
});
