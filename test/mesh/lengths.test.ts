import t from 'tap';
import { nearestDistances } from '../../src/mesh/lengths.js';
import { seeded } from '../support/random.js';

/** uint32: 0 … count − 1 */
const range = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => i);

function bruteForce(positions: Float64Array, points: Uint32Array): number[] {
  const distance = (a: number, b: number): number =>
    Math.hypot(...[0, 1, 2].map((axis) => positions[3 * a + axis]! - positions[3 * b + axis]!));
  return Array.from(points, (a, i) => Math.min(...[...points].filter((_, j) => j !== i).map((b) => distance(a, b))));
}

const sorted = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);

t.test('nearest neighbours agree with a comparison of all pairs, for clouds of every shape', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const shapes: Record<string, () => number[]> = {
    even: () => [random(), random(), random()],
    line: () => [random(), 0, 0],
    grid: () => [random.int(4), random.int(4), random.int(4)],
    clusters: () => [random.int(2) * 1e9 + random(), random() * 1e-9, random()],
    outlier: () => (random() < 0.02 ? [1e30, -1e30, random()] : [random(), random(), random()]),
    same: () => [1, 2, 3],
  };
  for (const [name, makePoint] of Object.entries(shapes)) {
    const positions = Float64Array.from(Array.from({ length: 200 }, makePoint).flat());
    const expected = sorted(bruteForce(positions, range(200)));
    const found = sorted(nearestDistances(positions, range(200)));
    const isClose = found.every((value, i) => Math.abs(value - expected[i]!) <= 1e-12 * expected[i]!);
    t.ok(isClose, name);
  }
});

t.test('only the given points count', async (t) => {
  const positions = Float64Array.of(0, 0, 0, 0.1, 0, 0, 5, 0, 0);
  t.same([...nearestDistances(positions, Uint32Array.of(0, 2))], [5, 5]);
  t.same([...nearestDistances(positions, Uint32Array.of(1))], []);
});

t.test('heaps, lines and outliers cost little: the points looked at per query stay few', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const count = 20_000;
  const shapes: Record<string, (i: number) => number[]> = {
    heap: () => [0, 0, 0],
    'heap and outlier': (i) => (i === 0 ? [1e30, 0, 0] : [random() * 1e-30, random() * 1e-30, 0]),
    'two values': (i) => [i % 2, 0, 0],
  };
  for (const [name, makePoint] of Object.entries(shapes)) {
    const positions = Float64Array.from(Array.from({ length: count }, (_, i) => makePoint(i)).flat());
    let reads = 0;
    const counted = new Proxy(positions, {
      get: (target, key) => {
        reads++;
        return target[key as unknown as number];
      },
    });
    nearestDistances(counted, range(count));
    // A few hundred reads a point, where all pairs would take sixty thousand.
    t.ok(reads < 1000 * count, `${name}: ${Math.round(reads / count)} reads a point`);
  }
});
