import t from 'tap';
import type { ElementPair } from '../../src/contract/elements.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { countClosePairs, findDistances, measurePairs } from '../../src/verify/distance.js';
import { VerifierMemory } from '../../src/verify/memory.js';
import { findMinDistance } from '../../src/verify/nearest.js';
import { seeded } from '../support/random.js';
import { makeMesh, PROTECT } from './make-mesh.js';
import { forEachDistancePair, nameOf } from './oracle.js';

const random = seeded();
t.comment(`TEST_SEED=${random.seed}`);

interface Scene {
  readonly mesh: CollisionMesh;
  readonly x: Float64Array;
}

/** Cloth of n by n squares with edges of length 1, a rod and two particles above it, and under it two triangles of `size`. */
function overPlane(n: number, size: number, slope: number): Scene {
  const points: number[] = [];
  const triangles: number[] = [];
  for (let v = 0; v <= n; v++) {
    for (let u = 0; u <= n; u++) {
      const at = points.length / 3;
      points.push(u - n / 2, v - n / 2, 0.4 + random.between(0, 0.3));
      if (u < n && v < n) triangles.push(at, at + 1, at + n + 2, at, at + n + 2, at + n + 1);
    }
  }
  const free = points.length / 3;
  for (let k = 0; k < 4; k++) points.push(random.between(-n, n) / 2, random.between(-n, n) / 2, random.between(1, 2));
  const corner = points.length / 3;
  const [c, s] = [Math.cos(slope), Math.sin(slope)];
  for (const [u, v] of [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ] as const) {
    points.push(size * u * c, size * v * random.between(0.5, 1), size * u * s);
  }
  triangles.push(corner, corner + 1, corner + 2, corner, corner + 2, corner + 3);
  const mesh = makeMesh({
    ...{ vertexCount: corner + 4, triangles, segments: [free, free + 1], particles: [free + 2, free + 3] },
    kinematic: [corner, corner + 1, corner + 2, corner + 3],
  });
  return { mesh, x: Float64Array.from(points) };
}

/** All pairs with their computed distances, ascending. */
function measureAll({ mesh, x }: Scene): ElementPair[] {
  const pairs: ElementPair[] = [];
  forEachDistancePair(mesh, (kind, a, b) => pairs.push({ kind: kind as ElementPair['kind'], a, b }));
  return measurePairs(pairs, x).sort((p, q) => p.distance! - q.distance!);
}

const named = ({ kind, a, b, distance }: ElementPair): string => `${nameOf(kind, a, b)} ${distance}`;

t.test('beside planes of any size, every pair is found by its computed distance', async (t) => {
  for (let round = 0; round < 12; round++) {
    // A level plane, whose distances are exact, and tilted ones, whose distances doubles decide by rounding.
    const slope = round % 3 === 0 ? 0 : random.between(0, 1.5);
    const size = 2 ** random.between(0, 70);
    const scene = overPlane(5, size, slope);
    const { mesh, x } = scene;
    const name = `size ${size}, slope ${slope}`;
    const all = measureAll(scene);
    for (const closerThan of [0, 0.05, random.between(0.1, 2)]) {
      const within = all.filter(({ distance }) => distance! <= closerThan);
      const found = findDistances(mesh, x, { ...PROTECT, maxPairs: 1_000_000 }, closerThan);
      t.strictSame(found.closePairs.map(named).sort(), within.map(named).sort(), `within ${closerThan}: ${name}`);
      const counted = countClosePairs(mesh, x, PROTECT, closerThan, () => true);
      t.equal(counted.closeCount, within.length, name);
    }
    for (const maxPairs of [0, 1, 8]) {
      const { minDistance } = findDistances(mesh, x, { ...PROTECT, maxPairs }, Number.POSITIVE_INFINITY);
      t.equal(minDistance, all[0]!.distance, `the smallest: ${name}`);
    }
  }
});

t.test('beside planes of any size, what is remembered of a state changes no distance', async (t) => {
  let listed = 0;
  for (let round = 0; round < 6; round++) {
    const { mesh, x } = overPlane(6, 2 ** random.between(0, 70), round % 2 === 0 ? 0 : random.between(0, 1.5));
    const memory = new VerifierMemory(mesh);
    for (let step = 0; step < 10; step++) {
      for (let k = 0; k < 3 * (mesh.vertexCount - 4); k++) x[k]! += random.between(-0.002, 0.002);
      const state = x.slice();
      const alone = findDistances(mesh, state, { ...PROTECT, maxPairs: 1 }, 1).minDistance;
      // Motions are known from the test of a state.
      memory.noteMotion(0.004);
      t.equal(findMinDistance(mesh, state, PROTECT, 1, memory), alone, `round ${round}, step ${step}`);
      if (memory.distanceClearance) listed++;
    }
  }
  t.comment(`${listed} of 60 states had a list`);
});

t.test('beside a plane of 2^60 edges no more pairs are visited than a few for every element', async (t) => {
  const { mesh, x } = overPlane(30, 2 ** 60, 0);
  let calls = 0;
  const rules = { ...PROTECT, maxPairs: 1, checkpoint: () => calls++ };
  findDistances(mesh, x, rules, Number.POSITIVE_INFINITY);
  // Once every 256 pairs of leaves, and a few times at the beginning; all pairs of leaves would be more than 200 times that.
  t.ok(calls < 40, `${calls} calls`);
});
