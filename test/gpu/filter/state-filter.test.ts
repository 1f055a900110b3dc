import t, { type Test } from 'tap';
import { DeviceStateFilter } from '../../../gpu/filter/state-filter.js';
import type { Positions } from '../../../src/contract/mesh.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { decideDoubtful, findIntersections } from '../../../src/verify/state.js';
import { seeded } from '../../support/random.js';
import { makeMesh, PROTECT, SKIP } from '../../verify/make-mesh.js';
import { compare, forFilter, openFilterDevice, verdictOf } from './filter-device.js';
import { flatGrid, nearTouches, randomTopology, scatter } from './soups.js';

const { device, options, close } = await openFilterDevice();
t.teardown(close);
const random = seeded();
t.comment(`seed ${random.seed}`);

/** Verdicts with and without the filter, under both rules. @returns the counts, for the test to see that it tested something */
async function isSame(t: Test, mesh: CollisionMesh, x: Positions, name: string) {
  if (!device) throw new Error('no device');
  const wide = { maxPairs: 1000 };
  const { doubtful, filtered, exact } = await compare(device, mesh, x, { ...PROTECT, ...wide });
  t.ok(doubtful, `${name}: the filter takes it`);
  t.same(verdictOf(filtered), verdictOf(exact), `${name}: ${exact.intersectionCount} intersections`);
  const skipping = await compare(device, mesh, x, { ...SKIP, ...wide });
  t.same(verdictOf(skipping.filtered), verdictOf(skipping.exact), `${name}: kinematic pairs skipped`);
  const doubtfulCount = doubtful ? doubtful.pairs.length / 2 : 0;
  return { intersections: exact.intersectionCount, tested: exact.pairsTested, filtered, exact, doubtfulCount };
}

t.test('Random soups are decided as by the exact test.', options, async (t) => {
  for (let round = 0; round < 6; round++) {
    const mesh = randomTopology(random, 150);
    const single = Float32Array.from(scatter(mesh, random, (value) => value));
    const counts = await isSame(t, mesh, single, `float32, round ${round}`);
    t.ok(counts.intersections > 0 && counts.intersections < counts.tested, 'some pairs meet, some do not');
    t.equal(counts.filtered.pairsTested, counts.exact.pairsTested, 'the very same pairs were looked at');
    t.ok(counts.doubtfulCount < 1.05 * counts.exact.intersectionCount + 5 + counts.exact.kinematicIntersectionCount);
    await isSame(
      t,
      mesh,
      scatter(mesh, random, (value) => value),
      `float64, round ${round}`,
    );
  }
});

t.test('coordinates on a coarse grid: coplanar, collinear, equal, touching', options, async (t) => {
  for (const cells of [1, 2, 5]) {
    const mesh = randomTopology(random, 120);
    const x = Float32Array.from(scatter(mesh, random, (value) => Math.round(value * cells) / cells));
    t.ok((await isSame(t, mesh, x, `${cells} cells`)).intersections > 50, 'many meet');
  }
});

t.test('far from the origin, tiny, huge, and of all sizes at once', options, async (t) => {
  const mesh = randomTopology(random, 120);
  for (const offset of [1e3, 1e7, 1e15]) {
    const x = scatter(mesh, random, (value) => offset + value);
    await isSame(t, mesh, x, `float64 at ${offset}`);
    await isSame(t, mesh, Float32Array.from(x), `float32 at ${offset}`);
  }
  for (const scale of [1e-44, 1e-40, 1e-30, 1e-10, 1e10, 1e30, 1e38]) {
    const x = scatter(mesh, random, (value) => (value * scale) / 3);
    await isSame(t, mesh, Float32Array.from(x), `float32 times ${scale}`);
    await isSame(t, mesh, x, `float64 times ${scale}`);
  }
  const mixed = scatter(mesh, random, (value) => value * 2 ** -random.int(140));
  await isSame(t, mesh, Float32Array.from(mixed), 'exponents of all sorts, float32');
  await isSame(t, mesh, mixed, 'exponents of all sorts, float64');
  const zero = new Float32Array(3 * mesh.vertexCount);
  await isSame(t, mesh, zero, 'all in one point');
  zero.fill(-0, 0, 600);
  await isSame(t, mesh, zero, 'all in one point, some of it with a minus');
});

t.test('Numbers that no scaling brings into range are left to the host.', options, async (t) => {
  if (!device) return;
  const mesh = randomTopology(random, 20);
  for (const scale of [1e290, 1e-290]) {
    const { doubtful } = await compare(
      device,
      mesh,
      scatter(mesh, random, (value) => value * scale),
      PROTECT,
    );
    t.equal(doubtful, undefined, `times ${scale}`);
  }
});

t.test('Pairs that barely touch are never cleared.', options, async (t) => {
  for (const offset of [0, 7]) {
    const { mesh, x } = nearTouches(random, 3000, offset);
    const single = await isSame(t, mesh, Float32Array.from(x), `float32 at ${offset}`);
    t.ok(single.intersections > 600, `${single.intersections} meet`);
    t.ok(single.doubtfulCount > single.intersections, 'the filter was in doubt');
    const jittered = x.map((value) => value + 2 ** -40 * random.between(-1, 1));
    t.ok((await isSame(t, mesh, jittered, `float64 at ${offset}`)).intersections > 300);
  }
});

t.test('Coplanar pairs of a flat cloth are cleared, too.', options, async (t) => {
  const planes: [string, (u: number, v: number) => readonly [number, number, number]][] = [
    ['level', (u, v) => [u, v, 0.3]],
    ['tilted', (u, v) => [0.6 * u - 0.1 * v, 0.2 * u + 0.9 * v, 0.5 * u - 0.4 * v]],
  ];
  for (const [name, turn] of planes) {
    const { mesh, x } = flatGrid(40, turn);
    const { doubtfulCount, tested, intersections } = await isSame(t, mesh, Float32Array.from(x), name);
    t.equal(intersections, 0);
    t.ok(doubtfulCount < 0.02 * tested, `${doubtfulCount} of ${tested} pairs in doubt`);
  }
  const folded = flatGrid(20, (u, v) => [Math.abs(u - 0.5), v, 0]);
  t.ok((await isSame(t, folded.mesh, Float32Array.from(folded.x), 'folded flat')).intersections > 1000);
});

t.test('ignored parts', options, async (t) => {
  const triangles = [0, 1, 2];
  const shape = { vertexCount: 7, triangles, segments: [3, 4, 5, 6], parts: [1, 1, 1, 0, 0, 2, 2] };
  const x = new Float32Array([0, 0, 0, 4, 0, 0, 0, 4, 0, 1, 1, -1, 1, 1, 1, 1, 2, -1, 1, 2, 1]);
  for (const [ignored, count] of [
    [[], 2],
    [[0, 1], 1],
    [[1, 2], 1],
    [[0, 2], 2],
    [[1, 0, 2, 1], 0],
  ] as const) {
    const mesh = makeMesh({ ...shape, ignoredPartPairs: ignored });
    const counts = await isSame(t, mesh, x, `ignoring ${ignored}`);
    t.equal(counts.intersections, count);
    t.equal(counts.filtered.pairsTested, counts.exact.pairsTested);
  }
});

t.test('Kinematic pairs are counted separately.', options, async (t) => {
  if (!device) return;
  const x = new Float32Array([0, 0, 0, 4, 0, 0, 0, 4, 0, 1, 1, -1, 1, 1, 1]);
  const mesh = makeMesh({ vertexCount: 5, triangles: [0, 1, 2], segments: [3, 4], kinematic: [0, 1, 2, 3, 4] });
  const { filtered } = await compare(device, mesh, x, SKIP);
  t.equal(filtered.intersectionCount, 0);
  t.equal(filtered.kinematicIntersectionCount, 1);
});

t.test('meshes without edges, triangles or both, and the smallest of all', options, async (t) => {
  const x = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]);
  await isSame(t, makeMesh({ vertexCount: 4, particles: [0, 1, 3] }), x, 'particles');
  await isSame(t, makeMesh({ vertexCount: 4, segments: [0, 1, 2, 3] }), x, 'rods');
  await isSame(t, makeMesh({ vertexCount: 4, triangles: [0, 1, 2] }), x, 'one triangle');
  const { exact } = await isSame(
    t,
    makeMesh({ vertexCount: 4, triangles: [0, 1, 2], particles: [3] }),
    x,
    'a particle on it',
  );
  t.equal(exact.intersectionCount, 1, 'found by the host');
});

t.test('A list that is too short grows, and too many pairs are left to the host.', options, async (t) => {
  if (!device) return;
  const { mesh, x } = nearTouches(random, 500);
  const single = Float32Array.from(x);
  const grown = await compare(device, mesh, single, PROTECT, { firstDoubtful: 3 });
  t.ok((grown.doubtful?.pairs.length ?? 0) > 100);
  t.same(verdictOf(grown.filtered), verdictOf(grown.exact));
  const refused = await compare(device, mesh, single, PROTECT, { firstDoubtful: 3, mostDoubtful: 10 });
  t.equal(refused.doubtful, undefined);
});

t.test('Lists longer than one reading are complete.', options, async (t) => {
  const mesh = randomTopology(random, 250);
  const x = Float32Array.from(scatter(mesh, random, (value) => Math.round(value)));
  t.ok((await isSame(t, mesh, x, 'crowded')).doubtfulCount > 4096 + 1000);
});

t.test('One filter tests many states, and no data of one reach the next.', options, async (t) => {
  if (!device) return;
  const mesh = randomTopology(random, 100);
  const filter = await DeviceStateFilter.open(forFilter(device), mesh);
  const states = [0.1, 3, 1, 0.01].map((spread) => Float32Array.from(scatter(mesh, random, (v) => v * spread)));
  states.push(states[0]);
  const seen: string[] = [];
  for (const x of states) {
    const doubtful = await filter.findDoubtful(x);
    if (!doubtful) throw new Error('refused');
    t.same(verdictOf(decideDoubtful(mesh, x, PROTECT, doubtful)), verdictOf(findIntersections(mesh, x, PROTECT)));
    const pairs = Array.from(
      { length: doubtful.pairs.length / 2 },
      (_, k) => `${doubtful.pairs.subarray(2 * k, 2 * k + 2)}`,
    );
    t.equal(new Set(pairs).size, pairs.length, 'each pair once');
    seen.push(pairs.sort().join(' '));
  }
  t.equal(seen[4], seen[0], 'the same state gives the same pairs');
  t.ok(filter.bytes > 0);
  filter.close();
  t.equal(device.ledger.total, 0, 'a closed filter has given its memory back');
  await t.rejects(filter.findDoubtful(states[0]), { code: 'INTERNAL' });
});

t.test('Work that the device never did does not count as a verdict.', options, async (t) => {
  if (!device) return;
  const mesh = randomTopology(random, 100);
  const place = forFilter(device);
  const filter = await DeviceStateFilter.open(place, mesh);
  t.teardown(() => filter.close());
  const x = Float32Array.from(scatter(mesh, random, (value) => value));
  const sound = await filter.findDoubtful(x);
  const { queue } = place.memory.device;
  const submit = queue.submit;
  queue.submit = () => undefined;
  try {
    await t.rejects(filter.findDoubtful(x), {
      code: 'INTERNAL',
      message: /not all of request/,
    });
  } finally {
    queue.submit = submit;
  }
  t.equal((await filter.findDoubtful(x))?.pairs.length, sound?.pairs.length, 'the next one is');
});
