import t from 'tap';
import { findIntersections } from '../../src/verify/state.js';
import type { StateFindings } from '../../src/verify/types.js';
import { seeded } from '../support/random.js';
import { makeMesh, PROTECT, SKIP } from './make-mesh.js';
import { listMeetings, nameOf } from './oracle.js';

/** A triangle (vertices 0 to 2) and a rod (3, 4). */
const TRIANGLE_AND_ROD = makeMesh({ vertexCount: 5, triangles: [0, 1, 2], segments: [3, 4] });
const FLAT = [0, 0, 0, 4, 0, 0, 0, 4, 0];

const namesOf = (findings: StateFindings): string[] =>
  findings.intersections.map(({ kind, a, b }) => nameOf(kind, a, b)).sort();

function meets(triangle: number[], rod: number[]): boolean {
  const { intersectionCount } = findIntersections(TRIANGLE_AND_ROD, new Float64Array([...triangle, ...rod]), PROTECT);
  return intersectionCount === 1;
}

t.test('an edge that pierces a triangle is found', async (t) => {
  t.ok(meets(FLAT, [1, 1, -1, 1, 1, 1]), 'pierces the inside');
  t.notOk(meets(FLAT, [3, 3, -1, 3, 3, 1]), 'passes beside');
  t.notOk(meets(FLAT, [1, 1, 1, 1, 1, 2]), 'ends before the plane');
  t.ok(meets(FLAT, [1, 1, 0, 1, 1, 2]), 'one end on the triangle');
  t.ok(meets(FLAT, [2, 2, -1, 2, 2, 1]), 'through a side');
  t.ok(meets(FLAT, [4, 0, -1, 4, 0, 1]), 'through a corner');
  t.ok(meets(FLAT, [4, 0, 0, 5, 5, 5]), 'the same coordinates under another id');
  t.notOk(meets(FLAT, [5, 0, 0, 5, 5, 5]), 'one end on the plane, outside');
});

t.test('an edge in the plane of a triangle is found if they overlap', async (t) => {
  t.ok(meets(FLAT, [0.5, 0.5, 0, 1, 1, 0]), 'inside');
  t.ok(meets(FLAT, [-1, 1, 0, 5, 1, 0]), 'across');
  t.ok(meets(FLAT, [1, -1, 0, 1, 0, 0]), 'touches a side from outside');
  t.ok(meets(FLAT, [-2, 0, 0, 9, 0, 0]), 'along a side and beyond');
  t.ok(meets(FLAT, [4, 0, 0, 9, 0, 0]), 'continues a side from its corner');
  t.notOk(meets(FLAT, [5, 0, 0, 9, 0, 0]), 'on the line of a side, apart');
  t.notOk(meets(FLAT, [3, 2, 0, 2, 3, 0]), 'beside the slanted side, boxes overlapping');
  t.notOk(meets(FLAT, [3.5, 3.5, 0, 4, 4, 0]), 'outside altogether');
  const upright = [0, 0, 0, 0, 4, 0, 0, 0, 4];
  t.ok(meets(upright, [0, 1, 1, 0, 9, 9]), 'in a plane that two projections flatten');
  t.notOk(meets(upright, [0, 3, 2, 0, 2, 3]), 'the same, apart');
});

t.test('one unit in the last place decides', async (t) => {
  const next = 1 + 2 ** -52;
  const level = [0, 0, 1, 4, 0, 1, 0, 4, 1];
  t.ok(meets(level, [1, 1, 1, 1, 1, 3]), 'on the triangle');
  t.notOk(meets(level, [1, 1, next, 1, 1, 3]), 'one above');
  t.ok(meets(level, [1, 1, 1 - 2 ** -53, 1, 1, 3]), 'one below');
  // The slanted plane x + y + z = 3 with an end moved by one unit, which no plain double evaluation would see.
  const slanted = [3, 0, 0, 0, 3, 0, 0, 0, 3];
  t.ok(meets(slanted, [1, 1, 1, 2, 2, 2]));
  t.notOk(meets(slanted, [1, 1, next, 2, 2, 2]));
  t.ok(meets(slanted, [1, 1, 1 - 2 ** -53, 2, 2, 2]));
});

t.test('elements without extent are tested exactly', async (t) => {
  const segment = [0, 0, 0, 4, 4, 4, 2, 2, 2];
  t.ok(meets(segment, [0, 2, 1, 2, 0, 1]), 'a flat triangle crossed by an edge');
  t.notOk(meets(segment, [0, 2, 1, 2, 0, 1.5]), 'a flat triangle passed by an edge');
  t.ok(meets(segment, [3, 3, 3, 9, 9, 9]), 'a flat triangle overlapped along its line');
  t.notOk(meets(segment, [5, 5, 5, 9, 9, 9]), 'a flat triangle, apart on its line');
  const point = [1, 1, 1, 1, 1, 1, 1, 1, 1];
  t.ok(meets(point, [0, 0, 0, 2, 2, 2]), 'a triangle that is a point, on the edge');
  t.notOk(meets(point, [0, 0, 0, 2, 2, 3]), 'a triangle that is a point, off the edge');
  t.ok(meets(FLAT, [1, 1, 0, 1, 1, 0]), 'an edge that is a point, on the triangle');
  t.notOk(meets(FLAT, [1, 1, 1, 1, 1, 1]), 'an edge that is a point, above');
  t.notOk(meets(FLAT, [3, 3, 0, 3, 3, 0]), 'an edge that is a point, in the plane');
});

t.test('coordinates of any size are tested exactly', async (t) => {
  for (const size of [1e-200, 2 ** -1070, 1e-30, 1e30, 1e150, 1e307]) {
    const scaled = (values: number[]): number[] => values.map((value) => value * size);
    t.ok(meets(scaled(FLAT), scaled([1, 1, -1, 1, 1, 1])), `pierces at ${size}`);
    t.ok(meets(scaled(FLAT), scaled([2, 2, 0, 3, 3, 1])), `touches at ${size}`);
    t.notOk(meets(scaled(FLAT), scaled([3, 2, -1, 3, 2, 1])), `apart at ${size}`);
    t.notOk(meets(scaled(FLAT), scaled([1, 1, 1, 1, 1, 2])), `above at ${size}`);
  }
  t.notOk(meets(FLAT, [1, 1, 1e-200, 1, 1, 1]), 'a gap of 1e-200 over a triangle of size 4');
  t.notOk(
    meets(
      [3, 0, 0, 0, 3, 0, 0, 0, 3],
      [1, 1, 1, 2, 2, 2].map((v) => v * 1e-200),
    ),
    'far below a slanted triangle',
  );
  t.ok(meets(FLAT, [1, 1, -1e-200, 1, 1, 1e-200]), 'a rod of length 2e-200 through a triangle of size 4');
});

t.test('rods and particles that meet are found', async (t) => {
  const rods = makeMesh({ vertexCount: 4, segments: [0, 1, 2, 3] });
  const meetsRods = (x: number[]): number => findIntersections(rods, new Float64Array(x), PROTECT).intersectionCount;
  t.equal(meetsRods([0, 0, 0, 2, 2, 2, 0, 2, 1, 2, 0, 1]), 1, 'crossing');
  t.equal(meetsRods([0, 0, 0, 2, 2, 2, 0, 2, 1, 2, 0, 1.0000001]), 0, 'just past each other');
  t.equal(meetsRods([0, 0, 0, 2, 0, 0, 1, 0, 0, 3, 0, 0]), 1, 'overlapping on a line');
  t.equal(meetsRods([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]), 0, 'apart on a line');
  t.equal(meetsRods([0, 0, 0, 2, 0, 0, 1, 0, 0, 1, 3, 0]), 1, 'an end on the other');

  const points = makeMesh({ vertexCount: 7, triangles: [0, 1, 2], segments: [3, 4], particles: [5, 6] });
  const x = new Float64Array([...FLAT, 0, 0, 5, 3, 3, 8, 1, 1, 6, 1, 1, 6]);
  t.same(namesOf(findIntersections(points, x, PROTECT)), [
    'VERTEX_EDGE 5 3,4',
    'VERTEX_EDGE 6 3,4',
    'VERTEX_VERTEX 5 6',
  ]);
  x.set([1, 1, 0], 15);
  t.same(namesOf(findIntersections(points, x, PROTECT)), ['VERTEX_EDGE 6 3,4', 'VERTEX_TRIANGLE 5 0,1,2']);
});

t.test('kinematic and ignored pairs do not count', async (t) => {
  const fan = makeMesh({ vertexCount: 5, triangles: [0, 1, 2, 0, 3, 4] });
  const flat = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 3, -1, -1, -1, -3, 1]);
  t.equal(findIntersections(fan, flat, PROTECT).intersectionCount, 0, 'triangles that share a corner, apart');
  flat.set([1, 1, -1, 1, 1, 2], 9);
  t.same(
    namesOf(findIntersections(fan, flat, PROTECT)),
    listMeetings(fan, flat),
    'a shared corner leaves the opposite edge to be tested',
  );

  const two = { vertexCount: 6, triangles: [0, 1, 2, 3, 4, 5] };
  const crossed = new Float32Array([0, 0, 0, 4, 0, 0, 0, 4, 0, 1, 1, -1, 1, 1, 1, 9, 9, 1]);
  const all = findIntersections(makeMesh(two), crossed, SKIP);
  t.ok(all.intersectionCount > 0);
  t.equal(all.kinematicIntersectionCount, 0);
  const still = makeMesh({ ...two, kinematic: [0, 1, 2, 3, 4, 5] });
  const skipped = findIntersections(still, crossed, SKIP);
  t.equal(skipped.intersectionCount, 0);
  t.equal(skipped.intersections.length, 0);
  t.equal(skipped.kinematicIntersectionCount, all.intersectionCount, 'skipped pairs are still counted apart');
  const kept = findIntersections(still, crossed, PROTECT);
  t.equal(kept.intersectionCount, all.intersectionCount);
  t.equal(kept.kinematicIntersectionCount, all.intersectionCount);
  const half = makeMesh({ ...two, kinematic: [0, 1, 2, 3, 4] });
  t.ok(findIntersections(half, crossed, SKIP).intersectionCount > 0, 'one dynamic corner makes an element dynamic');

  const inParts = { ...two, parts: [0, 0, 0, 1, 1, 1] };
  const ignored = findIntersections(makeMesh({ ...inParts, ignoredPartPairs: [0, 1] }), crossed, SKIP);
  t.equal(ignored.intersectionCount, 0);
  t.equal(ignored.pairsTested, 0);
  const other = makeMesh({ ...inParts, ignoredPartPairs: [0, 0] });
  t.equal(findIntersections(other, crossed, SKIP).intersectionCount, all.intersectionCount, 'another pair of parts');
  const straddling = makeMesh({ ...two, parts: [0, 0, 0, 1, 1, 0], ignoredPartPairs: [0, 1] });
  t.same(
    namesOf(findIntersections(straddling, crossed, SKIP)).filter((name) => name.endsWith('3,4,5')),
    listMeetings(makeMesh(two), crossed).filter((name) => name.endsWith('3,4,5')),
    'an element over two parts belongs to neither',
  );
});

t.test('invalid input is refused', async (t) => {
  const x = new Float32Array(15);
  t.throws(() => findIntersections(TRIANGLE_AND_ROD, x.subarray(3), PROTECT), { code: 'SIZE_MISMATCH' });
  x[7] = Number.NaN;
  t.throws(() => findIntersections(TRIANGLE_AND_ROD, x, PROTECT), { code: 'NOT_FINITE', element: { index: 2 } });
  t.throws(() => findIntersections(TRIANGLE_AND_ROD, new Float32Array(15), { ...PROTECT, maxPairs: -1 }), {
    code: 'INVALID_PARAMETER',
  });
});

t.test('brute force with whole numbers agrees on random soups', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (let round = 0; round < 12; round++) {
    // Few grid values make coincidences common: shared coordinates, flat triangles, collinear rods.
    const grid = [2, 4, 9, 1000][round % 4];
    const triangles = Array.from({ length: 24 }, () => random.int(30)).filter(
      (_, k, all) => new Set(all.slice(k - (k % 3), k - (k % 3) + 3)).size === 3,
    );
    const mesh = makeMesh({
      vertexCount: 46,
      triangles,
      segments: Array.from({ length: 12 }, (_, k) => 30 + k),
      particles: [42, 43, 44, 45],
    });
    const offset = round % 3 === 0 ? 0 : 2 ** 10 + 2 ** -30;
    const x = Float64Array.from({ length: 138 }, () => offset + (random.int(grid) * 5) / grid);
    for (let k = 0; k < x.length; k++) x[k] = Math.round(x[k] * 2 ** 36) / 2 ** 36;
    const findings = findIntersections(mesh, x, { ...PROTECT, maxPairs: 10_000 });
    const expected = listMeetings(mesh, x);
    t.same(namesOf(findings), expected, `round ${round}: ${expected.length} pairs on a grid of ${grid}`);
    t.equal(findings.intersectionCount, expected.length);
  }
});

t.test('the list is the beginning of the complete sorted list', async (t) => {
  const random = seeded(7);
  const mesh = makeMesh({ vertexCount: 90, triangles: Array.from({ length: 90 }, (_, k) => k) });
  const x = Float64Array.from({ length: 270 }, () => random());
  const whole = findIntersections(mesh, x, { ...PROTECT, maxPairs: 10_000 });
  t.ok(whole.intersectionCount > 20);
  t.equal(whole.intersections.length, whole.intersectionCount);
  for (const maxPairs of [0, 1, 7, 20]) {
    const part = findIntersections(mesh, x, { ...PROTECT, maxPairs });
    t.same(part.intersections, whole.intersections.slice(0, maxPairs));
    t.equal(part.intersectionCount, whole.intersectionCount);
  }
  const single = Float32Array.from(x);
  t.same(
    findIntersections(mesh, single, PROTECT),
    findIntersections(mesh, new Float64Array(single), PROTECT),
    'float32 positions are taken as the same doubles',
  );
});

t.test('elements of very different sizes and far outliers are tested exactly', async (t) => {
  const random = seeded(11);
  const count = 90;
  const x: number[] = [];
  for (let k = 0; k < count; k++) {
    const size = [1e-3, 1e-3, 1e-3, 1, 1e3][k % 5];
    const centre = [random(), random(), random()];
    for (let c = 0; c < 9; c++) x.push(Math.fround(centre[c % 3] + size * (random() - 0.5)));
  }
  x.push(1e9, 0, 0, 1e9, 1, 0, 1e9, 0, 1);
  const mesh = makeMesh({
    vertexCount: 3 * count + 3,
    triangles: Array.from({ length: 3 * count + 3 }, (_, k) => k),
  });
  const findings = findIntersections(mesh, new Float32Array(x), PROTECT);
  let expected = 0;
  for (let e = 0; e < mesh.edges.length; e += 2) {
    for (let f = 0; f < mesh.triangles.length; f += 3) {
      if (Math.floor(mesh.edges[e] / 3) === f / 3) continue;
      const one = makeMesh({ vertexCount: 5, triangles: [2, 3, 4], segments: [0, 1] });
      const ids = [mesh.edges[e], mesh.edges[e + 1], ...mesh.triangles.subarray(f, f + 3)];
      const local = Float32Array.from(ids.flatMap((v) => x.slice(3 * v, 3 * v + 3)));
      expected += findIntersections(one, local, PROTECT).intersectionCount;
    }
  }
  t.equal(findings.intersectionCount, expected, 'the search finds as many as a test of all pairs');
});
