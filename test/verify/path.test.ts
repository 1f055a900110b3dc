import t from 'tap';
import type { PairKind } from '../../src/contract/elements.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { findDistances } from '../../src/verify/distance.js';
import { pathMeets, testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';
import { isOfIgnoredParts, mayBeIgnored, mayBeSkipped } from '../support/guarding-oracle.js';
import { type Random, roundsUntil, seeded } from '../support/random.js';
import { pairOnOneLine, parallelPair } from '../support/turning-pairs.js';
import { makeMesh, PROTECT, SKIP } from './make-mesh.js';
import { forEachDistancePair, nameOf } from './oracle.js';

const points = (...values: number[]): Float64Array => {
  const all = new Float64Array(12);
  all.set(values);
  return all;
};

const KINDS: readonly (readonly [PairKind, number, number])[] = [
  ['VERTEX_TRIANGLE', 1, 3],
  ['EDGE_EDGE', 2, 2],
  ['VERTEX_EDGE', 1, 2],
  ['VERTEX_VERTEX', 1, 1],
];

t.test('collisions at a known time are found', async (t) => {
  const flat = [0, 0, 0, 4, 0, 0, 0, 4, 0];
  const impact = (height: number, end: number): number | undefined =>
    pathMeets('VERTEX_TRIANGLE', points(1, 1, height, ...flat), points(1, 1, end, ...flat));
  const through = impact(1, -1) as number;
  t.ok(through <= 0.5 && through > 0.4999999, `falls through half way: ${through}`);
  t.ok((impact(1, 0) as number) > 0.9999999, 'arrives at the very end');
  t.equal(impact(0, 1), 0, 'starts on the triangle');
  t.equal(impact(0, 0), 0, 'rests on the triangle');
  t.equal(impact(1, 1e-12), undefined, 'stops just above');
  t.equal(impact(1e-12, 1), undefined, 'leaves from just above');
  t.equal(
    pathMeets('VERTEX_TRIANGLE', points(3, 3, 1, ...flat), points(3, 3, -1, ...flat)),
    undefined,
    'falls past the slanted side',
  );
  const rods = pathMeets(
    'EDGE_EDGE',
    points(-1, 0, 0, 1, 0, 0, 0, -1, 1, 0, 1, 1),
    points(-1, 0, 2, 1, 0, 2, 0, -1, 1, 0, 1, 1),
  );
  t.ok((rods as number) <= 0.5 && (rods as number) > 0.4999999);
  const bullet = pathMeets('VERTEX_VERTEX', points(-3, 0, 0, 0, 0, 0), points(1, 0, 0, 0, 0, 0));
  t.ok((bullet as number) <= 0.75 && (bullet as number) > 0.7499999);
  t.equal(pathMeets('VERTEX_VERTEX', points(-3, 1e-12, 0, 0, 0, 0), points(1, 1e-12, 0, 0, 0, 0)), undefined);
  const crossing = pathMeets('VERTEX_EDGE', points(0, 0, 1, -1, 0, 0, 1, 0, 0), points(0, 0, -1, -1, 0, 0, 1, 0, 0));
  t.ok((crossing as number) <= 0.5 && (crossing as number) > 0.4999999);
  t.equal(
    pathMeets('VERTEX_EDGE', points(0, 1e-9, 1, -1, 0, 0, 1, 0, 0), points(0, 1e-9, -1, -1, 0, 0, 1, 0, 0)),
    undefined,
    'passes beside the edge',
  );
  t.equal(pathMeets('VERTEX_VERTEX', points(1, 1, 1, 1, 1, 1), points(2, 2, 2, 2, 2, 2)), 0, 'two points as one');
});

t.test('invalid input is refused', async (t) => {
  t.throws(() => pathMeets('EDGE_TRIANGLE', points(), points()), { code: 'INVALID_PARAMETER' });
  t.throws(() => pathMeets('EDGE_EDGE', points(Number.NaN), points()), { code: 'NOT_FINITE' });
  const mesh = makeMesh({ vertexCount: 2, particles: [0, 1] });
  const bad = new Float32Array([0, 0, 0, 0, Infinity, 0]);
  t.throws(() => testPath(mesh, new Float32Array(6), bad, PROTECT), { code: 'NOT_FINITE', element: { index: 1 } });
  t.throws(() => testPath(mesh, new Float32Array(5), new Float32Array(6), PROTECT), { code: 'SIZE_MISMATCH' });
});

/**
 * Whole coordinates up to about 20·size of a pair that has a common point: one of side a with weights of fourths
 * coincides with one of side b.
 */
function placeTouching(random: Random, countA: number, countB: number, size: number): Float64Array {
  const count = countA + countB;
  const x = Float64Array.from({ length: 3 * count }, () => 4 * (random.int(2 * size + 1) - size));
  // Fourths of multiples of 4 are whole; shifting side b by the difference keeps them so.
  for (let axis = 0; axis < 3; axis++) {
    const weigh = (from: number, n: number): number => {
      const weights = [[4], [1, 3], [1, 1, 2]][n - 1];
      return weights.reduce((sum, weight, v) => sum + (weight * x[3 * (from + v) + axis]) / 4, 0);
    };
    const shift = weigh(0, countA) - weigh(countA, countB);
    for (let v = countA; v < count; v++) x[3 * v + axis] += shift;
  }
  return x;
}

/** A pair that truly meets at time k/8: start = meeting - k·velocity and end = meeting + (8-k)·velocity are exact. */
function meetingPair(
  random: Random,
  countA: number,
  countB: number,
): { start: Float64Array; end: Float64Array; at: number } {
  const k = random.int(9);
  const start = new Float64Array(12);
  const end = new Float64Array(12);
  const offset = 2 ** random.int(30);
  const scale = 2 ** (random.int(60) - 30);
  const speed = 2 ** random.int(12);
  placeTouching(random, countA, countB, 2 ** random.int(12)).forEach((value, n) => {
    const velocity = random.int(2 * speed + 1) - speed;
    start[n] = (offset + value - k * velocity) * scale;
    end[n] = (offset + value + (8 - k) * velocity) * scale;
  });
  return { start, end, at: k / 8 };
}

t.test('pairs that touch all the way are never called free, although every product rounds', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (const [kind, a, b] of KINDS) {
    let free = 0;
    for (let round = 0; round < 1000; round++) {
      const start = points(...placeTouching(random, a, b, 2 ** 44));
      // The pair is carried along and, in half of the rounds, grows: the touching points stay together.
      const carry = [0, 0, 0].map(() => random.int(2 ** 48));
      const end = start.map((value, n) => (1 + (round % 2)) * value + carry[n % 3]);
      if (pathMeets(kind, start, end) !== 0) free++;
    }
    t.equal(free, 0, kind);
  }
});

t.test('no pair that truly meets is called free', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (const [kind, a, b] of KINDS) {
    let missed = 0;
    let late = 0;
    for (let round = 0; round < 4000; round++) {
      const { start, end, at } = meetingPair(random, a, b);
      const impact = pathMeets(kind, start, end);
      if (impact === undefined) missed++;
      else if (impact > at) late++;
    }
    t.equal(missed, 0, `${kind}: none missed`);
    t.equal(late, 0, `${kind}: the bound is never after a true meeting`);
  }
});

t.test('coordinates of any size are tested', async (t) => {
  const flat = [0, 0, 0, 4, 0, 0, 0, 4, 0];
  for (const size of [2 ** -1060, 1e-200, 1e-20, 1e20, 1e150, 1e300]) {
    const scaled = (...values: number[]): Float64Array => points(...values.map((value) => value * size));
    t.not(
      pathMeets('VERTEX_TRIANGLE', scaled(1, 1, 1, ...flat), scaled(1, 1, -1, ...flat)),
      undefined,
      `through at ${size}`,
    );
    t.equal(
      pathMeets('VERTEX_TRIANGLE', scaled(1, 1, 1, ...flat), scaled(2, 1, 1, ...flat)),
      undefined,
      `above at ${size}`,
    );
  }
});

t.test('pairs that rotate at a small distance are not called colliding', async (t) => {
  const random = seeded(17);
  let alarms = 0;
  for (let round = 0; round < 500; round++) {
    // Two nearly touching crossed rods on a common turning, sliding frame.
    const gap = 1e-6;
    const place = (angle: number, slide: number): Float64Array => {
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      const turn = (x: number, y: number, z: number): number[] => [c * x - s * z + slide, y, s * x + c * z];
      return points(...turn(-1, 0, 0), ...turn(1, 0, 0), ...turn(0, -1, gap), ...turn(0, 1, gap));
    };
    const angle = random.between(0, 6);
    if (pathMeets('EDGE_EDGE', place(angle, 0), place(angle + random.between(0.1, 1), random())) !== undefined)
      alarms++;
  }
  t.equal(alarms, 0);
});

t.test('parallel edges and points that turn close to an edge are not called colliding', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (const kind of ['EDGE_EDGE', 'VERTEX_EDGE'] as const) {
    let alarms = 0;
    for (let round = 0; round < 300; round++) {
      const { start, end } = parallelPair(random, kind, 10 ** random.between(-9, -2));
      if (pathMeets(kind, start, end) !== undefined) alarms++;
    }
    t.equal(alarms, 0, kind);
  }
});

t.test('pairs that lie on one line while it turns are never called free, although every product rounds', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const free = { EDGE_EDGE: 0, VERTEX_EDGE: 0 };
  for (let round = 0; round < 6000; round++) {
    const { kind, start, end } = pairOnOneLine(random, round);
    if (pathMeets(kind, start, end) === undefined) free[kind]++;
  }
  t.strictSame(free, { EDGE_EDGE: 0, VERTEX_EDGE: 0 });
});

const scene = (seed: number, step: number) => {
  const random = seeded(seed);
  const mesh = makeMesh({
    vertexCount: 40,
    triangles: Array.from({ length: 24 }, (_, k) => k),
    segments: Array.from({ length: 10 }, (_, k) => 24 + k),
    particles: [34, 35, 36, 37, 38, 39],
  });
  const start = Float64Array.from({ length: 120 }, () => random.between(-1, 1));
  const end = start.map((value) => value + random.between(-step, step));
  return { mesh, start, end };
};

t.test('the test of a mesh finds the same collisions as tests of single pairs', async (t) => {
  const seed = seeded().seed;
  t.comment(`TEST_SEED=${seed}`);
  for (const step of [0.05, 0.3, 1]) {
    const { mesh, start, end } = scene(seed, step);
    const expected: string[] = [];
    let earliest = Infinity;
    forEachDistancePair(mesh, (kind, a, b) => {
      const pick = (x: Float64Array): Float64Array =>
        points(...[...a, ...b].flatMap((v) => [...x.subarray(3 * v, 3 * v + 3)]));
      const impact = pathMeets(kind as PairKind, pick(start), pick(end));
      if (impact === undefined) return;
      expected.push(nameOf(kind, a, b));
      earliest = Math.min(earliest, impact);
    });
    const findings = testPath(mesh, start, end, { ...PROTECT, maxPairs: 10_000 });
    t.same(findings.collisions.map(({ kind, a, b }) => nameOf(kind, a, b)).sort(), expected.sort());
    t.equal(findings.collisionCount, expected.length);
    t.equal(findings.pathFree, expected.length === 0);
    t.equal(findings.earliestImpact, expected.length === 0 ? undefined : earliest);
    const capped = testPath(mesh, start, end, { ...PROTECT, maxPairs: 3 });
    t.equal(capped.collisionCount, expected.length);
    t.same(capped.collisions, findings.collisions.slice(0, 3));
  }
});

t.test('nothing touches before the earliest impact', async (t) => {
  for (let seed = 1; seed <= 10; seed++) {
    const { mesh, start, end } = scene(seed, 0.3);
    const until = testPath(mesh, start, end, PROTECT).earliestImpact ?? 1;
    for (let k = 0; k < 8; k++) {
      const time = (until * k) / 8;
      const x = start.map((value, n) => (1 - time) * value + time * end[n]);
      const { minDistance } = findDistances(mesh, x, PROTECT, Infinity);
      if (!((minDistance as number) > 0)) t.fail(`seed ${seed}: contact at ${time}`);
    }
  }
});

t.test('the codimensional scope covers the collisions that the end state does not show', async (t) => {
  // A triangle (0-2), two rods (3,4) and (5,6), two particles (7, 8).
  const mesh = makeMesh({ vertexCount: 9, triangles: [0, 1, 2], segments: [3, 4, 5, 6], particles: [7, 8] });
  const apart = [0, 0, 0, 4, 0, 0, 0, 4, 0, 9, 0, 0, 9, 4, 0, 8, 2, 1, 10, 2, 1, 1, 1, 1, 20, 20, 20];
  const kindsFor = (scope: 'all' | 'codimensional', moves: Record<number, number[]>): string[] => {
    const end = Float64Array.from(apart);
    for (const [vertex, place] of Object.entries(moves)) end.set(place, 3 * Number(vertex));
    const findings = testPath(mesh, new Float64Array(apart), end, PROTECT, scope);
    return findings.collisions.map(({ kind, a, b }) => nameOf(kind, a, b));
  };
  t.same(kindsFor('codimensional', {}), []);
  t.same(kindsFor('codimensional', { 7: [1, 1, -1] }), ['VERTEX_TRIANGLE 7 0,1,2'], 'a particle through a triangle');
  t.same(kindsFor('codimensional', { 5: [8, 2, -1], 6: [10, 2, -1] }), ['EDGE_EDGE 3,4 5,6'], 'a rod through a rod');
  t.same(kindsFor('codimensional', { 8: [1, 1, 1], 7: [20, 20, 20] }), ['VERTEX_VERTEX 7 8']);
  const ontoTriangle = { 3: [-3, 0.5, -0.5], 4: [9, 4, 1] };
  t.same(kindsFor('codimensional', ontoTriangle), [], 'a rod into a triangle shows in the state');
  t.ok(kindsFor('all', ontoTriangle).length > 0);
});

t.test('kinematic and ignored pairs do not count', async (t) => {
  const two = { vertexCount: 6, triangles: [0, 1, 2, 3, 4, 5] };
  const start = new Float32Array([0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 4, 0, 1, 0, 4, 1]);
  const end = start.map((value, k) => (k > 8 && k % 3 === 2 ? -1 : value));
  t.equal(testPath(makeMesh(two), start, end, SKIP).pathFree, false);
  const still = makeMesh({ ...two, kinematic: [0, 1, 2, 3, 4, 5] });
  t.equal(testPath(still, start, end, SKIP).pathFree, true);
  t.equal(testPath(still, start, end, PROTECT).pathFree, false);
  const ignored = makeMesh({ ...two, parts: [0, 0, 0, 1, 1, 1], ignoredPartPairs: [0, 1] });
  t.equal(testPath(ignored, start, end, SKIP).pathFree, true);
});

interface Met {
  readonly pair: { readonly a: readonly number[]; readonly b: readonly number[] };
  readonly name: string;
}

/** A mesh of 40 vertices, thrown into a box, and the pairs that meet on a random path, by name. */
function meetingOnThrow(
  random: Random,
  mesh: CollisionMesh,
): {
  told: Set<string>;
  met: Met[];
} {
  const start = Float64Array.from({ length: 120 }, () => random.between(-1, 1));
  const end = start.map((value) => value + random.between(-0.6, 0.6));
  const met: Met[] = [];
  forEachDistancePair(mesh, (kind, a, b) => {
    const pick = (x: Float64Array): Float64Array =>
      points(...[...a, ...b].flatMap((v) => [...x.subarray(3 * v, 3 * v + 3)]));
    if (pathMeets(kind as PairKind, pick(start), pick(end)) !== undefined) {
      met.push({ pair: { a, b }, name: nameOf(kind, a, b) });
    }
  });
  const { collisions } = testPath(mesh, start, end, { ...SKIP, maxPairs: 10_000 });
  return { told: new Set(collisions.map(({ kind, a, b }) => nameOf(kind, a, b))), met };
}

t.test('SKIP: kinematic pairs count if they guard a promised pair of an edge and a triangle', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  let [kept, skipped] = [0, 0];
  for (const _ of roundsUntil(6, () => kept > 10 && skipped > 10)) {
    // Strips of triangles, rods and particles, of which each vertex is kinematic or not.
    const mesh = makeMesh({
      vertexCount: 40,
      triangles: Array.from({ length: 8 }, (_, k) => [
        3 * k,
        3 * k + 1,
        3 * k + 2,
        3 * k + 1,
        3 * k + 2,
        3 * k + 3,
      ]).flat(),
      segments: Array.from({ length: 10 }, (_, k) => 25 + k),
      particles: [35, 36, 37, 38, 39],
      kinematic: Array.from({ length: 40 }, (_, v) => v).filter(() => random() < 0.7),
    });
    const { told, met } = meetingOnThrow(random, mesh);
    const expected = met.filter(({ pair }) => !mayBeSkipped(mesh, pair));
    t.same([...told].sort(), expected.map(({ name }) => name).sort());
    skipped += met.length - expected.length;
    kept += expected.filter(({ pair: { a, b } }) => [...a, ...b].every((v) => mesh.kinematic[v] === 1)).length;
  }
  t.ok(kept > 10 && skipped > 10, `${kept} kinematic pairs counted, ${skipped} did not`);
});

t.test('pairs of ignored parts count if they guard an element in two parts', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  let [kept, ignored] = [0, 0];
  for (let round = 0; round < 6; round++) {
    const mesh = makeMesh({
      vertexCount: 40,
      triangles: Array.from({ length: 22 }, (_, k) => [k, k + 1, k + 2]).flat(),
      segments: Array.from({ length: 10 }, (_, k) => 25 + k),
      particles: [35, 36, 37, 38, 39],
      parts: Array.from({ length: 40 }, (_, v) => Math.floor(v / 4)),
      ignoredPartPairs: Array.from({ length: 10 }, (_, p) => [p, (p + 2) % 10, p, (p + 3) % 10, p, p]).flat(),
    });
    const { told, met } = meetingOnThrow(random, mesh);
    const expected = met.filter(({ pair }) => !mayBeIgnored(mesh, pair));
    t.same(
      expected.filter(({ name }) => !told.has(name)),
      [],
    );
    ignored += met.length - expected.length;
    kept += expected.filter(({ pair }) => isOfIgnoredParts(mesh, pair)).length;
  }
  t.ok(kept > 10 && ignored > 10, `${kept} pairs of ignored parts counted, ${ignored} did not`);
});

t.test(
  'SKIP: a kinematic edge that sweeps through a triangle with one dynamic corner collides, although both ends are free',
  async (t) => {
    const shape = { vertexCount: 6, triangles: [0, 1, 2, 3, 4, 5] };
    const start = new Float64Array([0, 0, 0, 1, 0, 0, 0.5, 1, 0, 0.5, -0.2, 0.3, 0.5, -0.2, -0.3, 0.5, -1, 0]);
    // In through the kinematic side 0-1, out at the dynamic corner.
    const end = start.map((value, k) => (k > 8 && k % 3 === 1 ? value + 3 : value));
    const mixed = makeMesh({ ...shape, kinematic: [0, 1, 3, 4, 5] });
    t.equal(findIntersections(mixed, start, SKIP).intersectionCount, 0);
    t.equal(findIntersections(mixed, end, SKIP).intersectionCount, 0);
    const { collisions } = testPath(mixed, start, end, SKIP);
    t.ok(
      collisions.some(({ kind, a, b }) => nameOf(kind, a, b) === 'EDGE_EDGE 0,1 3,4'),
      'the pair of kinematic edges is reported',
    );
    const fixed = makeMesh({ ...shape, kinematic: [0, 1, 2, 3, 4, 5] });
    t.equal(testPath(fixed, start, end, SKIP).pathFree, true, 'two kinematic triangles may pass through each other');
  },
);
