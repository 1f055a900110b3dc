import t from 'tap';
import { ExcludedPairs } from '../../src/mesh/excluded-pairs.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { findDistances } from '../../src/verify/distance.js';
import { VerifierMemory } from '../../src/verify/memory.js';
import { findMinDistance } from '../../src/verify/nearest.js';
import { findIntersections, testState } from '../../src/verify/state.js';
import type { PairRules, StateFindings } from '../../src/verify/types.js';
import { seeded } from '../support/random.js';
import { makeMesh, PROTECT, SKIP } from './make-mesh.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** Triangles, rods and free points thrown into a box, so that many intersect; a third is kinematic; two parts ignore each other. */
function heap(hasParts: boolean): { readonly mesh: CollisionMesh; readonly x: Float64Array } {
  const count = 60;
  const triangles: number[] = [];
  const segments: number[] = [];
  const particles: number[] = [];
  const points: number[] = [];
  for (let n = 0; n < count; n++) {
    const size = n % 6 === 4 ? 2 : n % 6 === 5 ? 1 : 3;
    const first = points.length / 3;
    const centre = [0, 1, 2].map(() => random.between(0, 4));
    for (let k = 0; k < size; k++) points.push(...centre.map((c) => c + random.between(-0.7, 0.7)));
    if (size === 3) triangles.push(first, first + 1, first + 2);
    else if (size === 2) segments.push(first, first + 1);
    else particles.push(first);
  }
  // Whatever the seed, two kinematic triangles cross: the second one stands in the first.
  points.splice(0, 18, ...[0, 0, 0, 3, 0, 0, 0, 3, 0], ...[1, 1, -1, 1, 1, 2, 0.5, 0.5, 2]);
  const vertexCount = points.length / 3;
  const vertices = Array.from({ length: vertexCount }, (_, v) => v);
  const parts = hasParts ? { parts: vertices.map((v) => (v < 40 ? 0 : v < 80 ? 1 : 2)), ignoredPartPairs: [0, 1] } : {};
  const kinematic = vertices.filter((v) => v < vertexCount / 3);
  const mesh = makeMesh({ vertexCount, triangles, segments, particles, kinematic, ...parts });
  return { mesh, x: Float64Array.from(points) };
}

/** What a test says of a state, whoever else has been tested before; how many pairs it took is not part of it. */
const verdictOf = ({ intersectionCount, intersections, kinematicIntersectionCount, excludedPairs }: StateFindings) => ({
  ...{ intersectionCount, intersections, kinematicIntersectionCount, excludedPairs },
});

const WITHOUT_KINEMATIC: PairRules = { ...SKIP, countsKinematic: false };

for (const hasParts of [false, true]) {
  t.test(
    `a remembered state changes no verdict and no distance, ${hasParts ? 'with' : 'without'} ignored parts`,
    async (t) => {
      const { mesh, x } = heap(hasParts);
      const memory = new VerifierMemory(mesh);
      const [excluded] = [findIntersections(mesh, x, PROTECT).intersections.slice(0, 3)];
      const rulesOf = [PROTECT, SKIP, WITHOUT_KINEMATIC, { ...PROTECT, excluded: new ExcludedPairs(excluded!) }];
      let saved = 0;
      for (let round = 0; round < 120; round++) {
        const moving = [0, 0.02, 0.2, 1][Math.floor(random.between(0, 4))]!;
        for (let v = 0; v < mesh.vertexCount; v++) {
          if (random.between(0, 1) >= moving) continue;
          for (let k = 3 * v; k < 3 * v + 3; k++) x[k]! += random.between(-0.3, 0.3);
        }
        const state = round % 3 === 0 ? Float32Array.from(x) : x.slice();
        if (round % 3 === 0) x.set(state);
        const rules = rulesOf[Math.floor(random.between(0, rulesOf.length))]!;
        const alone = findIntersections(mesh, state, rules);
        const aided = findIntersections(mesh, state, rules, memory);
        t.same(verdictOf(aided), verdictOf(alone), `round ${round}`);
        saved += alone.pairsTested - aided.pairsTested;
        const closerThan = [0.001, 0.02, 0.2, Number.POSITIVE_INFINITY][Math.floor(random.between(0, 4))]!;
        const { minDistance } = findDistances(mesh, state, { ...rules, maxPairs: 1 }, closerThan);
        t.equal(findMinDistance(mesh, state, rules, closerThan, memory), minDistance, `round ${round}, ${closerThan}`);
      }
      t.ok(saved > 0, `${saved} pairs were not tested again`);
    },
  );
}

t.test('a pair as far apart as the last one that is remembered is found when those have moved apart', async (t) => {
  const count = 8;
  const x = Float64Array.from({ length: 6 * count }, (_, k) =>
    k % 3 === 0 ? 10 * Math.floor(k / 6) + (k % 6 === 3 ? 1 : 0) : 0,
  );
  const particles = Array.from({ length: 2 * count }, (_, v) => v);
  const mesh = makeMesh({ vertexCount: 2 * count, particles });
  const memory = new VerifierMemory(mesh);
  t.equal(findMinDistance(mesh, x, PROTECT, 1, memory), 1);
  // Eight pairs have this distance, which is also the reach, and four of them are remembered.
  for (const { i } of memory.distances!.nearest) x[3 * i + 1]! += 3;
  t.equal(findMinDistance(mesh, x, PROTECT, 1, memory), 1);
  // Now all of them are farther apart.
  for (let v = 0; v < count; v++) x[6 * v + 2]! += 3;
  t.equal(findMinDistance(mesh, x, PROTECT, 1, memory), undefined);
  t.equal(findMinDistance(mesh, x, PROTECT, 1, memory), undefined);
});

t.test('a known state needs no test, and the rules of each test apply to its findings', async (t) => {
  const { mesh, x } = heap(false);
  const memory = new VerifierMemory(mesh);
  findIntersections(mesh, x, PROTECT, memory);
  for (const rules of [PROTECT, SKIP, WITHOUT_KINEMATIC]) {
    const again = findIntersections(mesh, x, rules, memory);
    t.equal(again.pairsTested, 0);
    t.same(verdictOf(again), verdictOf(findIntersections(mesh, x, rules)));
  }
});

t.test('kinematic pairs that one test skipped are tested when they count', async (t) => {
  const { mesh, x } = heap(false);
  const memory = new VerifierMemory(mesh);
  t.equal(findIntersections(mesh, x, WITHOUT_KINEMATIC, memory).kinematicIntersectionCount, 0);
  const protectedToo = findIntersections(mesh, x, PROTECT, memory);
  t.same(verdictOf(protectedToo), verdictOf(findIntersections(mesh, x, PROTECT)));
  t.ok(protectedToo.kinematicIntersectionCount > 0);
});

t.test('a test that ends early leaves the memory as it was', async (t) => {
  const { mesh, x } = heap(false);
  const memory = new VerifierMemory(mesh);
  findIntersections(mesh, x, PROTECT, memory);
  findMinDistance(mesh, x, PROTECT, 1, memory);
  const { meetings, distances } = memory;
  const moved = x.map((value) => value + 1 / 3);
  const stopped: PairRules = {
    ...PROTECT,
    checkpoint: () => {
      throw new Error('stopped');
    },
  };
  t.throws(() => findIntersections(mesh, moved, stopped, memory), { message: 'stopped' });
  t.throws(() => findMinDistance(mesh, moved, stopped, 1, memory), { message: 'stopped' });
  t.equal(memory.meetings, meetings);
  t.equal(memory.distances, distances);
});

t.test('the memory of another mesh is neither used nor changed', async (t) => {
  const { mesh, x } = heap(false);
  const other = { ...mesh };
  const memory = new VerifierMemory(other);
  const alone = findIntersections(mesh, x, PROTECT);
  t.same(findIntersections(mesh, x, PROTECT, memory), alone);
  t.equal(findMinDistance(mesh, x, PROTECT, 1, memory), findMinDistance(mesh, x, PROTECT, 1));
  t.same([memory.meetings, memory.distances], [undefined, undefined]);
});

t.test('a state that a filter has searched is remembered like any other', async (t) => {
  const { mesh, x } = heap(false);
  const memory = new VerifierMemory(mesh);
  const edges = mesh.edges.length / 2;
  const count = mesh.triangles.length / 3;
  const pairs = Uint32Array.from(
    Array.from({ length: edges * count }, (_, n) => [Math.floor(n / count), n % count]).flat(),
  );
  const filtered = testState(mesh, x, PROTECT, { pairsTested: edges * count, pairs }, memory);
  const again = findIntersections(mesh, x, PROTECT, memory);
  t.same(verdictOf(again), verdictOf(filtered));
  t.equal(again.pairsTested, 0);
});

t.test('the verifier remembers its own copy of the state', async (t) => {
  const { mesh, x } = heap(false);
  const memory = new VerifierMemory(mesh);
  findIntersections(mesh, x, PROTECT, memory);
  for (let k = 0; k < x.length; k++) x[k]! += random.between(-0.5, 0.5);
  t.same(verdictOf(findIntersections(mesh, x, PROTECT, memory)), verdictOf(findIntersections(mesh, x, PROTECT)));
});
