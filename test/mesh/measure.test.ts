import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import { seeded } from '../support/random.js';

const ids = (...values: number[]): Uint32Array => Uint32Array.from(values);

t.test('a right triangle has the expected median edge, smallest height and bounds', async (t) => {
  const mesh = buildMesh({ vertexCount: 4, triangles: ids(0, 1, 2) });
  const measures = measureMesh(mesh, Float64Array.of(1, 0, 0, 5, 0, 0, 1, 3, 0, 100, 100, 100));
  t.equal(measures.medianEdge, 4);
  t.equal(measures.minHeight, 12 / 5);
  t.same(measures.bounds, [1, 0, 0, 5, 3, 0], 'a vertex of no element does not count');
  t.same(measures.warnings, []);
});

t.test('the median of an even number of edges is the mean of the middle two', async (t) => {
  const mesh = buildMesh({ vertexCount: 5, segments: ids(0, 1, 1, 2, 2, 3, 3, 4) });
  const { medianEdge, minHeight } = measureMesh(mesh, Float32Array.of(0, 0, 0, 1, 0, 0, 3, 0, 0, 7, 0, 0, 15, 0, 0));
  t.equal(medianEdge, 3);
  t.equal(minHeight, Number.POSITIVE_INFINITY);
});

t.test('edges between kinematic vertices count only when there are no others', async (t) => {
  const positions = Float64Array.of(0, 0, 0, 1, 0, 0, 11, 0, 0, 111, 0, 0);
  const segments = ids(0, 1, 1, 2, 2, 3);
  const some = buildMesh({ vertexCount: 4, segments, kinematic: Uint8Array.of(1, 1, 0, 1) });
  t.equal(measureMesh(some, positions).medianEdge, 55);
  const all = buildMesh({ vertexCount: 4, segments, kinematic: Uint8Array.of(1, 1, 1, 1) });
  t.equal(measureMesh(all, positions).medianEdge, 10);
});

t.test('edges inside solids count, and so do their vertices', async (t) => {
  const tetrahedra = ids(4, 1, 2, 3, 0, 4, 2, 3, 0, 1, 4, 3, 0, 1, 2, 4);
  const mesh = buildMesh({ vertexCount: 5, tetrahedra });
  // The inner vertex lies outside, as a target may have it.
  const positions = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9);
  const { medianEdge, bounds } = measureMesh(mesh, positions);
  const lengths = [1, 1, 1, Math.SQRT2, Math.SQRT2, Math.SQRT2];
  t.same(bounds, [0, 0, 0, 9, 9, 9]);
  t.equal(medianEdge, Math.SQRT2, `ten edges: ${lengths} and four of about 15`);
});

t.test('edges of zero length are named, and do not count in the median', async (t) => {
  const mesh = buildMesh({ vertexCount: 5, segments: ids(0, 1, 1, 2, 2, 3, 3, 4) });
  const measures = measureMesh(mesh, Float64Array.of(0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5));
  t.match(measures.warnings, [
    { code: 'ZERO_LENGTH_EDGE', count: 3, element: { kind: 'edge', index: 1, vertices: [1, 2] } },
  ]);
  t.equal(measures.medianEdge, Math.sqrt(75));
  t.equal(measureMesh(mesh, new Float64Array(15)).medianEdge, 0, '0 only if every length is');
});

t.test('tiny lengths do not vanish', async (t) => {
  const mesh = buildMesh({ vertexCount: 2, segments: ids(0, 1) });
  const { medianEdge, warnings } = measureMesh(mesh, Float64Array.of(0, 0, 0, 3e-200, 4e-200, 0));
  t.ok(Math.abs(medianEdge / 5e-200 - 1) < 1e-15, `${medianEdge}`);
  t.same(warnings, []);
});

t.test('area is zero exactly where corners are collinear', async (t) => {
  const mesh = buildMesh({ vertexCount: 6, triangles: ids(0, 1, 2, 3, 4, 5) });
  // Exactly collinear doubles; naive differences and products need not come out as zero for the first.
  const line = [0.1, 0.7, 1.3, 0.2, 1.4, 2.6, 0.4, 2.8, 5.2];
  const sliver = [0, 0, 0, 1, 0, 0, 0.5, 2 ** -60, 0];
  const measures = measureMesh(mesh, Float64Array.from([...line, ...sliver]));
  t.match(measures.warnings, [
    {
      code: 'ZERO_AREA_TRIANGLE',
      count: 1,
      message: /^1 triangle has no area: triangle 0 \(/,
      element: { kind: 'triangle', index: 0 },
    },
  ]);
  t.equal(measures.minHeight, 2 ** -60, 'a sliver is no zero');
  const flat = measureMesh(mesh, Float64Array.from([...line, ...line]));
  t.equal(flat.minHeight, Number.POSITIVE_INFINITY);
  t.match(flat.warnings, [{ code: 'ZERO_AREA_TRIANGLE', count: 2 }]);
});

t.test('far from the origin heights stay right to the last digits', async (t) => {
  const mesh = buildMesh({ vertexCount: 3, triangles: ids(0, 1, 2) });
  const far = 2 ** 40;
  const positions = Float64Array.of(far, far, far, far + 4, far, far, far + 1, far + 2 ** -10, far);
  t.equal(measureMesh(mesh, positions).minHeight, 2 ** -10);
});

t.test('for particles alone the median distance to the nearest neighbour is used', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const count = 301;
  const mesh = buildMesh({ vertexCount: count, particles: Uint32Array.from({ length: count }, (_, i) => i) });
  const positions = Float64Array.from({ length: 3 * count }, () => random.between(-1, 1));
  const nearest = Array.from({ length: count }, (_, i) => {
    const others = Array.from({ length: count }, (_, j) =>
      Math.hypot(...[0, 1, 2].map((axis) => positions[3 * i + axis]! - positions[3 * j + axis]!)),
    );
    return Math.min(...others.filter((_, j) => j !== i));
  });
  const expected = nearest.sort((a, b) => a - b)[150]!;
  t.ok(Math.abs(measureMesh(mesh, positions).medianEdge / expected - 1) < 1e-12);
});

t.test('one particle has no distance', async (t) => {
  const mesh = buildMesh({ vertexCount: 1, particles: ids(0) });
  t.match(measureMesh(mesh, Float64Array.of(1, 2, 3)), { medianEdge: 0, bounds: [1, 2, 3, 1, 2, 3] });
});

t.test('positions that do not fit are refused', async (t) => {
  const mesh = buildMesh({ vertexCount: 1, particles: ids(0) });
  t.throws(() => measureMesh(mesh, Float64Array.of(1, 2)), { code: 'SIZE_MISMATCH' });
  t.throws(() => measureMesh(mesh, Float64Array.of(1, 2, Number.NaN)), { code: 'NOT_FINITE' });
});
