import t from 'tap';
import type { ElementPair } from '../../src/contract/elements.js';
import { team } from '../../src/threads/here.js';
import { ClosestPoints } from '../../src/verify/closest.js';
import { NO_VERTEX } from '../../src/verify/contact-list.js';
import { countClosePairs, findContacts, findDistances } from '../../src/verify/distance.js';
import { VerifierMemory } from '../../src/verify/memory.js';
import { findMinDistance } from '../../src/verify/nearest.js';
import { seeded } from '../support/random.js';
import { enumerateDistance } from './distance-oracle.js';
import { makeMesh, PROTECT, SKIP } from './make-mesh.js';
import { forEachDistancePair, nameOf } from './oracle.js';

const mixed = (seed: number) => {
  const random = seeded(seed);
  const mesh = makeMesh({
    vertexCount: 40,
    triangles: Array.from({ length: 24 }, (_, k) => k),
    segments: Array.from({ length: 10 }, (_, k) => 24 + k),
    particles: [34, 35, 36, 37, 38, 39],
  });
  return { mesh, x: Float64Array.from({ length: 120 }, () => random.between(-1, 1)) };
};

/** All distances by enumeration, ascending. */
function listDistances(
  mesh: Parameters<typeof forEachDistancePair>[0],
  x: Float64Array,
): { name: string; distance: number }[] {
  const all: { name: string; distance: number }[] = [];
  forEachDistancePair(mesh, (kind, a, b) =>
    all.push({ name: nameOf(kind, a, b), distance: enumerateDistance(x, a, b) }),
  );
  return all.sort((p, q) => p.distance - q.distance);
}

const named = ({ kind, a, b }: ElementPair): string => nameOf(kind, a, b);
/** Both sides compute in doubles on coordinates of size 1. */
const ROUNDING = 1e-12;

t.test('distances agree with enumeration of faces', async (t) => {
  const seed = seeded().seed;
  t.comment(`TEST_SEED=${seed}`);
  for (let round = 0; round < 4; round++) {
    const { mesh, x } = mixed(seed + round);
    const expected = listDistances(mesh, x);
    for (const closerThan of [Infinity, 0.4]) {
      const within = expected.filter(({ distance }) => distance <= closerThan).slice(0, 64);
      const { minDistance, closePairs } = findDistances(mesh, x, PROTECT, closerThan);
      t.ok(Math.abs((minDistance as number) - within[0].distance) <= ROUNDING);
      t.equal(closePairs.length, within.length);
      closePairs.forEach((pair, k) => {
        if (Math.abs((pair.distance as number) - within[k].distance) > ROUNDING) t.fail(`place ${k}: ${named(pair)}`);
      });
    }
  }
});

t.test('all close pairs are counted, but few get a normal: only those that may be named need one', async (t) => {
  const { mesh, x } = mixed(5);
  const closerThan = 1.5;
  const within = listDistances(mesh, x).filter(({ distance }) => distance <= closerThan);
  const { findNormal } = ClosestPoints.prototype;
  let normals = 0;
  ClosestPoints.prototype.findNormal = function (code) {
    normals++;
    return findNormal.call(this, code);
  };
  t.teardown(() => {
    ClosestPoints.prototype.findNormal = findNormal;
  });
  const found = countClosePairs(mesh, x, { ...PROTECT, maxPairs: 4 }, closerThan, () => true);
  t.equal(found.closeCount, within.length);
  t.equal(found.closePairs.length, 4);
  found.closePairs.forEach((pair, k) => {
    t.ok(Math.abs((pair.distance as number) - within[k].distance) <= ROUNDING, `place ${k}: ${named(pair)}`);
  });
  t.ok(normals < within.length / 2, `${normals} normals for ${within.length} pairs`);
});

t.test('pairs farther apart than requested are not listed', async (t) => {
  const { mesh, x } = mixed(3);
  const [first] = listDistances(mesh, x);
  t.same(findDistances(mesh, x, PROTECT, first.distance / 2), { minDistance: undefined, closePairs: [] });
  const none = findDistances(mesh, x, { ...PROTECT, maxPairs: 0 }, Infinity);
  t.ok(Math.abs((none.minDistance as number) - first.distance) <= ROUNDING, 'the minimum is found without a list');
  t.same(none.closePairs, []);
  t.throws(() => findDistances(mesh, x, PROTECT, -1), { code: 'INVALID_PARAMETER' });
  t.throws(() => findDistances(mesh, x, PROTECT, Number.NaN), { code: 'INVALID_PARAMETER' });
  t.throws(() => findContacts(mesh, x, PROTECT, Infinity), { code: 'INVALID_PARAMETER' });
});

t.test('ties are listed by kind and ids, whatever the cap', async (t) => {
  // Particles on a grid: many pairs at distance exactly 1.
  const mesh = makeMesh({ vertexCount: 64, particles: Array.from({ length: 64 }, (_, k) => k) });
  const x = Float32Array.from({ length: 192 }, (_, k) => Math.floor(Math.floor(k / 3) / 4 ** (k % 3)) % 4);
  const whole = findDistances(mesh, x, { ...PROTECT, maxPairs: 1000 }, 1).closePairs;
  t.equal(whole.length, 144);
  t.ok(whole.every(({ distance }) => distance === 1));
  t.same(
    whole,
    [...whole].sort((p, q) => p.a[0] - q.a[0] || p.b[0] - q.b[0]),
  );
  for (const maxPairs of [1, 5, 64]) {
    t.same(findDistances(mesh, x, { ...PROTECT, maxPairs }, Infinity).closePairs, whole.slice(0, maxPairs));
  }
});

const pairMesh = {
  VERTEX_TRIANGLE: makeMesh({ vertexCount: 4, triangles: [1, 2, 3], particles: [0] }),
  EDGE_EDGE: makeMesh({ vertexCount: 4, segments: [0, 1, 2, 3] }),
  VERTEX_EDGE: makeMesh({ vertexCount: 3, segments: [1, 2], particles: [0] }),
  VERTEX_VERTEX: makeMesh({ vertexCount: 2, particles: [0, 1] }),
};

function closest(kind: keyof typeof pairMesh, x: number[]): ElementPair {
  const { closePairs } = findDistances(pairMesh[kind], new Float64Array(x), PROTECT, Infinity);
  return closePairs[0];
}

t.test('elements without extent and parallel edges have exact distances', async (t) => {
  const cases: [string, keyof typeof pairMesh, number[], number][] = [
    ['parallel edges side by side', 'EDGE_EDGE', [0, 0, 0, 4, 0, 0, 1, 0, 3, 9, 0, 3], 3],
    ['parallel edges one behind the other', 'EDGE_EDGE', [0, 0, 0, 4, 0, 0, 7, 4, 0, 9, 4, 0], 5],
    ['antiparallel edges', 'EDGE_EDGE', [0, 0, 0, 4, 0, 0, 9, 0, 3, 1, 0, 3], 3],
    ['nearly parallel edges', 'EDGE_EDGE', [0, 0, 0, 1, 0, 0, 0, 1e-9, 3, 1, -1e-9, 3], 3],
    ['an edge that is a point', 'EDGE_EDGE', [1, 1, 3, 1, 1, 3, 0, 0, 0, 2, 2, 0], 3],
    ['two edges that are points', 'EDGE_EDGE', [0, 0, 0, 0, 0, 0, 3, 4, 0, 3, 4, 0], 5],
    ['crossing edges', 'EDGE_EDGE', [-1, 0, 0, 1, 0, 0, 0, -1, 2, 0, 1, 2], 2],
    ['a flat triangle', 'VERTEX_TRIANGLE', [2, 3, 0, 0, 0, 0, 2, 0, 0, 4, 0, 0], 3],
    ['a triangle that is a point', 'VERTEX_TRIANGLE', [3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 5],
    ['above a sliver', 'VERTEX_TRIANGLE', [0.5, 0, 2, 0, 0, 0, 1, 0, 0, 0.5, 1e-12, 0], 2],
    ['a point over an edge that is a point', 'VERTEX_EDGE', [3, 4, 0, 0, 0, 0, 0, 0, 0], 5],
  ];
  for (const [name, kind, x, distance] of cases) {
    const pair = closest(kind, x);
    t.ok(Math.abs((pair.distance as number) - distance) <= ROUNDING, `${name}: ${pair.distance}`);
    t.ok(Math.abs(Math.hypot(...(pair.normal as [number, number, number])) - 1) <= ROUNDING, `${name}: unit normal`);
  }
});

t.test('normals point from b to a, even where the elements touch', async (t) => {
  t.same(closest('VERTEX_TRIANGLE', [1, 1, 2, 0, 0, 0, 4, 0, 0, 0, 4, 0]).normal, [0, 0, 1]);
  t.same(closest('VERTEX_TRIANGLE', [1, 1, -2, 0, 0, 0, 4, 0, 0, 0, 4, 0]).normal, [0, 0, -1]);
  t.same(closest('VERTEX_VERTEX', [5, 0, 0, 2, 0, 0]).normal, [1, 0, 0]);
  const touching = closest('VERTEX_TRIANGLE', [1, 1, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0]);
  t.equal(touching.distance, 0);
  t.same((touching.normal as readonly number[]).map(Math.abs), [0, 0, 1]);
  const crossing = closest('EDGE_EDGE', [-1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0]);
  t.equal(crossing.distance, 0);
  t.same((crossing.normal as readonly number[]).map(Math.abs), [0, 0, 1]);
  const onEdge = closest('VERTEX_EDGE', [1, 0, 0, 0, 0, 0, 4, 0, 0]);
  t.equal(onEdge.distance, 0);
  t.equal((onEdge.normal as readonly number[])[0], 0, 'orthogonal to the edge');
  t.equal(Math.hypot(...(closest('VERTEX_VERTEX', [1, 1, 1, 1, 1, 1]).normal as readonly number[])), 1);
});

t.test('coordinates of any size are measured', async (t) => {
  for (const size of [1e-200, 1e-30, 1e30, 1e150, 1e300]) {
    const pair = closest(
      'VERTEX_TRIANGLE',
      [1, 1, 2, 0, 0, 0, 4, 0, 0, 0, 4, 0].map((value) => value * size),
    );
    t.ok(Math.abs((pair.distance as number) / (2 * size) - 1) <= ROUNDING, `${pair.distance} at ${size}`);
    t.same(
      (pair.normal as readonly number[]).map((value) => Math.round(value * 1e9) / 1e9),
      [0, 0, 1],
    );
  }
  const tiny = closest('VERTEX_TRIANGLE', [1, 1, 1e-200, 0, 0, 0, 4, 0, 0, 0, 4, 0]).distance as number;
  t.ok(tiny > 0 && tiny <= 1.1e-200, `a gap of 1e-200 over a triangle of size 4 is ${tiny}`);
  t.equal(closest('VERTEX_VERTEX', [1e300, 0, 1e-200, 1e300, 0, 0]).distance, 1e-200, 'far out, and hardly apart');
});

t.test('kinematic and ignored pairs are not measured', async (t) => {
  const two = { vertexCount: 6, triangles: [0, 1, 2, 3, 4, 5] };
  const x = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1]);
  t.equal(findDistances(makeMesh(two), x, SKIP, 5).minDistance, 1);
  const still = makeMesh({ ...two, kinematic: [0, 1, 2, 3, 4, 5] });
  t.equal(findDistances(still, x, SKIP, 5).minDistance, undefined);
  t.equal(findDistances(still, x, PROTECT, 5).minDistance, 1);
  const ignored = makeMesh({ ...two, parts: [0, 0, 0, 1, 1, 1], ignoredPartPairs: [0, 1] });
  t.equal(findDistances(ignored, x, SKIP, 5).minDistance, undefined);
  const fan = makeMesh({ vertexCount: 3, triangles: [0, 1, 2] });
  t.equal(findDistances(fan, x.subarray(0, 9), SKIP, Infinity).minDistance, undefined, 'neighbours have no distance');
});

t.test('contacts are complete or refused, and too many are refused before they fill the memory', async (t) => {
  const { mesh, x } = mixed(5);
  const count = findContacts(mesh, x, PROTECT, 0.6).kinds.length;
  t.equal(findContacts(mesh, x, PROTECT, 0.6, count).kinds.length, count);
  t.throws(() => findContacts(mesh, x, PROTECT, 0.6, count - 1), {
    code: 'TOO_LARGE',
    message: new RegExp(`More than ${count - 1} pairs are within a contact distance of 0.6`),
    hint: /smaller contactDistance/,
  });
});

t.test('contacts are all close pairs with their closest points', async (t) => {
  const { mesh, x } = mixed(5);
  const closerThan = 0.6;
  const contacts = findContacts(mesh, x, PROTECT, closerThan);
  const { closePairs } = findDistances(mesh, x, { ...PROTECT, maxPairs: 10_000 }, closerThan);
  const kinds = ['', 'VERTEX_TRIANGLE', 'EDGE_EDGE', 'VERTEX_EDGE', 'VERTEX_VERTEX'];
  const sizesOfA = [0, 1, 2, 1, 1];
  const names: string[] = [];
  let previous = [0];
  contacts.kinds.forEach((kind, c) => {
    const ids = [...contacts.vertices.subarray(4 * c, 4 * c + 4)];
    const used = ids.filter((id) => id !== NO_VERTEX);
    const sizeOfA = sizesOfA[kind];
    names.push(nameOf(kinds[kind], used.slice(0, sizeOfA), used.slice(sizeOfA)));
    const weights = contacts.weights.subarray(4 * c, 4 * c + 4);
    const difference = [0, 0, 0];
    let sumA = 0;
    let sumB = 0;
    ids.forEach((id, k) => {
      if (id === NO_VERTEX) {
        if (weights[k] !== 0) t.fail('a weight without a vertex');
        return;
      }
      const sign = k < sizeOfA ? 1 : -1;
      if (sign > 0) sumA += weights[k];
      else sumB += weights[k];
      for (let axis = 0; axis < 3; axis++) difference[axis] += sign * weights[k] * x[3 * id + axis];
    });
    const room = [0, 1, 2].reduce((sum, axis) => sum + difference[axis] * contacts.normals[3 * c + axis], 0);
    // float32 arrays: seven digits.
    if (Math.abs(sumA - 1) > 1e-6 || Math.abs(sumB - 1) > 1e-6) t.fail(`contact ${c}: weights`);
    if (Math.abs(room - contacts.distances[c]) > 1e-6) t.fail(`contact ${c}: ${room} along the normal`);
    const key = [kind, ...ids];
    const at = key.findIndex((value, k) => value !== previous[k]);
    if (key[at] < previous[at]) t.fail(`contact ${c} is out of order`);
    previous = key;
  });
  t.ok(names.length > 50);
  t.same([...new Set(contacts.kinds)], [1, 2, 3, 4]);
  t.same([...names].sort(), closePairs.map(named).sort());
});

t.test('the memory of contacts is counted during the search and released', async (t) => {
  const count = 300;
  const mesh = makeMesh({ vertexCount: count, particles: Array.from({ length: count }, (_, v) => v) });
  const positions = Float64Array.from({ length: 3 * count }, (_, k) => Math.sin(k * k));
  const rules = { kinematicPairs: 'SKIP', maxPairs: 0 } as const;
  const { account } = team.memory;
  const before = account.own;
  let most = 0;
  const checkpoint = () => {
    most = Math.max(most, account.own - before);
  };
  const all = (count * (count - 1)) / 2;
  const { kinds, distances } = findContacts(mesh, positions, { ...rules, checkpoint }, 10);
  t.equal(kinds.length, all);
  t.ok(Math.max(...distances) < 10);
  t.ok(most > 49 * 1000 && most <= 2.5 * 49 * all, `${most} bytes`);
  t.equal(account.own, before);
  t.throws(() => findContacts(mesh, positions, rules, 10, all - 1), { code: 'TOO_LARGE' });
  t.equal(account.own, before, 'also after a refusal');
});

t.test(
  'a pair is found at its own distance, also where that is less than the gap of the boxes by rounding',
  async (t) => {
    // Nearly parallel rods with closest points a few roundings from their ends: the computed distance is less than the gap
    // between their boxes by 2⁻⁵³ of their length, which is far more than 2⁻⁵³ of the gap.
    const x = Float32Array.from([
      ...[-0.0000032723376079957234, 2.7297110557556152, 0.0000017974396087083733],
      ...[0.8397526741027832, 0.0000010834960448846687, 0.0000025005967927427264],
      ...[1.6748853415293752e-9, 8.70658323215423e-10, 1.6422682103112152e-9],
      ...[0.8397526741027832, 2.024379552878486e-9, 0.0000025005967927427264],
    ]);
    const mesh = makeMesh({ vertexCount: 4, segments: [0, 1, 2, 3] });
    const rules = { ...PROTECT, maxPairs: 1 };
    const least = findDistances(mesh, x, rules, Number.POSITIVE_INFINITY).minDistance!;
    const gap = x[4]! - x[10]!;
    t.ok(least < gap * (1 - 2 ** -40), `${least} is less than the gap of ${gap}`);
    t.equal(findDistances(mesh, x, rules, least).minDistance, least, 'as the limit');
    t.equal(findContacts(mesh, x, rules, least).kinds.length, 1, 'as a contact');
    const memory = new VerifierMemory(mesh);
    t.equal(findMinDistance(mesh, x, rules, Number.POSITIVE_INFINITY, memory), least);
    const shifted = x.map((value, k) => (k % 3 === 0 ? value + 4 : value));
    const expected = findDistances(mesh, shifted, rules, Number.POSITIVE_INFINITY).minDistance;
    t.equal(findMinDistance(mesh, shifted, rules, Number.POSITIVE_INFINITY, memory), expected, 'as a remembered pair');
  },
);
