import t from 'tap';
import { ExcludedPairs } from '../../src/mesh/excluded-pairs.js';
import { findContacts, findDistances } from '../../src/verify/distance.js';
import { findNear } from '../../src/verify/excluded.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';
import { makeMesh, PROTECT } from './make-mesh.js';

/** A triangle in z = 0, and two rods that pierce it. */
const mesh = makeMesh({ vertexCount: 7, triangles: [0, 1, 2], segments: [3, 4, 5, 6] });
const state = (z: number) =>
  Float64Array.of(0, 0, 0, 4, 0, 0, 0, 4, 0, 1, 1, z - 1, 1, 1, z + 1, 2, 1, z - 1, 2, 1, z + 1);
const first = { kind: 'EDGE_TRIANGLE', a: [3, 4], b: [0, 1, 2] } as const;
const second = { kind: 'EDGE_TRIANGLE', a: [5, 6], b: [0, 1, 2] } as const;

t.test('excluded pairs are listed separately and not counted', async (t) => {
  const all = findIntersections(mesh, state(0), PROTECT);
  t.equal(all.intersectionCount, 2);
  t.equal(all.excludedPairs, undefined);
  const some = findIntersections(mesh, state(0), { ...PROTECT, excluded: new ExcludedPairs([first]) });
  t.equal(some.intersectionCount, 1);
  t.same(some.intersections, [second]);
  t.same(some.excludedPairs, [first]);
  const none = findIntersections(mesh, state(0), {
    ...PROTECT,
    maxPairs: 0,
    excluded: new ExcludedPairs([first, second]),
  });
  t.equal(none.intersectionCount, 0);
  t.same(none.excludedPairs, [first, second], 'complete whatever the limit of the list');
  t.same(findIntersections(mesh, state(5), { ...PROTECT, excluded: new ExcludedPairs([first]) }).excludedPairs, []);
});

t.test('the path test excludes the same pairs', async (t) => {
  t.equal(testPath(mesh, state(0), state(5), PROTECT).collisionCount, 2);
  const rules = { ...PROTECT, excluded: new ExcludedPairs([first]) };
  const path = testPath(mesh, state(0), state(5), rules);
  t.equal(path.collisionCount, 1);
  t.same(path.collisions[0]?.a, [5]);
  const free = testPath(mesh, state(0), state(5), { ...PROTECT, excluded: new ExcludedPairs([first, second]) });
  t.match(free, { pathFree: true, earliestImpact: undefined, collisions: [] });
});

t.test('distances and contacts exclude the same pairs', async (t) => {
  const near = state(1.25);
  t.equal(findDistances(mesh, near, PROTECT, 3).minDistance, 0.25);
  const rules = { ...PROTECT, excluded: new ExcludedPairs([first]) };
  const pairs = findDistances(mesh, near, rules, 0.5).closePairs;
  t.same(
    pairs.map(({ a, b }) => [a, b]),
    [[[5], [0, 1, 2]]],
  );
  t.same([...findContacts(mesh, near, rules, 0.5).vertices], [5, 0, 1, 2]);
});

t.test('excluded pairs within a given distance are found', async (t) => {
  t.same(findNear(mesh, state(1.25), [first, second], 0.25), [first, second]);
  t.same(findNear(mesh, state(1.25), [first, second], 0.24), []);
  // The side x = 0 of the triangle runs past a rod: only edges are near.
  const aside = state(0);
  aside.set([-0.5, 1, -1, -0.5, 1, 1], 9);
  t.same(findNear(mesh, aside, [first], 0.5), [first]);
  t.same(findNear(mesh, aside, [first], 0.49), []);
  const rods = { kind: 'EDGE_EDGE', a: [3, 4], b: [5, 6] } as const;
  t.same(findNear(mesh, state(0), [rods], 1), [rods]);
  t.same(findNear(mesh, state(0), [rods], 0.99), []);
});
