import t from 'tap';
import { boundaryOf } from '../runner/picture.js';
import { makeBlock, makeGrid, makeRevolution, makeSphere, resample, sweep } from '../scenes/shapes.js';
import type { Geometry, Vec } from '../src/bodies.js';

/**
 * Every directed edge occurs once: all triangles have the same orientation; an edge without its opposite is on the
 * boundary.
 */
function boundaryEdges(triangles: ArrayLike<number>): number {
  const edges = new Set<string>();
  for (let i = 0; i < triangles.length; i += 3) {
    for (let k = 0; k < 3; k++) {
      const edge = `${triangles[i + k]} ${triangles[i + ((k + 1) % 3)]}`;
      if (edges.has(edge)) throw new Error(`the edge ${edge} occurs twice`);
      edges.add(edge);
    }
  }
  return [...edges].filter((edge) => !edges.has(edge.split(' ').reverse().join(' '))).length;
}

const at = ({ positions }: Geometry, v: number): Vec => [
  positions[3 * v]!,
  positions[3 * v + 1]!,
  positions[3 * v + 2]!,
];

/** Signed volume of a tetrahedron, or of the one between the origin and a triangle of a closed surface. */
const volumeOf = (a: Vec, b: Vec, c: Vec): number =>
  (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6;

t.test('a grid covers its rectangle', async (t) => {
  const { positions, triangles } = makeGrid(4, 3, 0.3, 0.2);
  t.equal(positions.length, 36);
  t.equal(triangles!.length, 36);
  t.equal(boundaryEdges(triangles!), 10);
});

t.test('a sphere is closed, turned outwards and has its volume', async (t) => {
  const sphere = makeSphere(0.5, 12);
  t.equal(boundaryEdges(sphere.triangles!), 0);
  t.equal(sphere.positions.length / 3, 10 * 144 + 2);
  let volume = 0;
  for (let i = 0; i < sphere.triangles!.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => at(sphere, sphere.triangles![i + k]!)) as [Vec, Vec, Vec];
    volume += volumeOf(a, b, c);
  }
  const exact = (4 / 3) * Math.PI * 0.125;
  t.ok(volume < exact && volume > 0.98 * exact, `${volume}`);
});

t.test('a surface of revolution and a swept tube are open at two ends only', async (t) => {
  const profile = [
    [1, 0],
    [0.5, 1],
    [1, 2],
  ] as const;
  t.equal(boundaryEdges(makeRevolution(profile, 8).triangles!), 16);
  const line = Array.from({ length: 50 }, (_, i): Vec => [Math.cos(i / 20), Math.sin(i / 20), i / 30]);
  const tube = sweep(line, 0.05, 10);
  t.equal(boundaryEdges(tube.triangles!), 20);
  const nearest = (v: Vec): number =>
    Math.min(...resample(line, 0.005).map((p) => Math.hypot(p[0] - v[0], p[1] - v[1], p[2] - v[2])));
  for (let v = 0; v < tube.positions.length / 3; v += 7) t.ok(Math.abs(nearest(at(tube, v)) - 0.05) < 2e-3);
});

t.test('points of a resampled line are equally far apart and keep its ends', async (t) => {
  const points = resample(
    [
      [0, 0, 0],
      [1, 0, 0],
      [1, 2, 0],
    ],
    0.25,
  );
  t.equal(points.length, 13);
  t.same(points[0], [0, 0, 0]);
  t.same(points.at(-1), [1, 2, 0]);
});

/** m³: rounding of a sum of 60 volumes of 2e-4 m³ */
const NO_VOLUME = 1e-12;

t.test('a block is filled by tetrahedra of positive volume whose faces agree', async (t) => {
  const block = makeBlock([4, 3, 3], [0.3, 0.2, 0.2]);
  const ids = block.tetrahedra!;
  let total = 0;
  for (let i = 0; i < ids.length; i += 4) {
    const [o, a, b, c] = [0, 1, 2, 3].map((k) => at(block, ids[i + k]!)) as [Vec, Vec, Vec, Vec];
    const from = (p: Vec): Vec => [p[0] - o[0], p[1] - o[1], p[2] - o[2]];
    const volume = volumeOf(from(a), from(b), from(c));
    t.ok(volume > 0);
    total += volume;
  }
  t.ok(Math.abs(total - 0.012) < NO_VOLUME);
  // 2·(3·2 + 3·2 + 2·2) squares, two triangles each: no inner face remains.
  t.equal(boundaryOf(ids).length / 3, 64);
  t.equal(boundaryEdges(boundaryOf(ids)), 0);
});
