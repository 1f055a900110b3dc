import t from 'tap';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { countWithin, findCalm, ListMaker, measureMotion } from '../../src/verify/clearance.js';
import { ClosestPoints } from '../../src/verify/closest.js';
import { findDistances } from '../../src/verify/distance.js';
import { collectElements, gather, stateRelations } from '../../src/verify/elements.js';
import { VerifierMemory } from '../../src/verify/memory.js';
import { findMinDistance } from '../../src/verify/nearest.js';
import { EDGE_EDGE, VERTEX_TRIANGLE } from '../../src/verify/pair-kinds.js';
import { Separation } from '../../src/verify/separation.js';
import { findIntersections } from '../../src/verify/state.js';
import type { StateFindings } from '../../src/verify/types.js';
import { seeded } from '../support/random.js';
import { makeMesh, PROTECT, SKIP } from './make-mesh.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** Two sheets of `side` × `side` vertices of unit spacing, `gap` apart, a rod and a particle between them; a column is kinematic. */
function sheets(side: number, gap: number): { readonly mesh: CollisionMesh; readonly x: Float64Array } {
  const points: number[] = [];
  const triangles: number[] = [];
  const kinematic: number[] = [];
  for (const z of [0, gap]) {
    const first = points.length / 3;
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) {
        if (i === 0) kinematic.push(points.length / 3);
        points.push(i + random.between(-0.1, 0.1) + z, j + random.between(-0.1, 0.1), z);
        if (i === 0 || j === 0) continue;
        const v = first + i * side + j;
        triangles.push(v, v - 1, v - side, v - 1, v - side - 1, v - side);
      }
    }
  }
  const loose = points.length / 3;
  points.push(2.3, 2.3, gap / 2, 2.9, 2.3, gap / 2, 4.5, 4.5, gap / 2);
  const mesh = makeMesh({
    vertexCount: points.length / 3,
    ...{ triangles, segments: [loose, loose + 1], particles: [loose + 2], kinematic },
  });
  return { mesh, x: Float64Array.from(points) };
}

const verdictOf = ({ intersectionCount, intersections, kinematicIntersectionCount, excludedPairs }: StateFindings) => ({
  ...{ intersectionCount, intersections, kinematicIntersectionCount, excludedPairs },
});

for (const shift of [0, 3, 1e6]) {
  t.test(`states that move a little and ${shift} together get the verdicts of a complete test`, async (t) => {
    const { mesh, x } = sheets(9, 0.3);
    const memory = new VerifierMemory(mesh);
    let [whole, listed, meeting] = [0, 0, 0];
    for (let round = 0; round < 60; round++) {
      // The sheets drift into each other and out again; now and then a few vertices jump.
      const drift = 0.012 * Math.sin(round / 6);
      for (let k = 0; k < x.length; k++) x[k]! += random.between(-0.004, 0.004) + shift;
      for (let v = 0; v < 81; v++) x[3 * v + 2]! += drift;
      if (round % 10 === 7) for (let k = 30; k < 45; k++) x[k]! += random.between(-1, 1);
      const rules = round % 3 === 2 ? SKIP : PROTECT;
      const state = round % 2 === 0 && shift < 1e6 ? Float32Array.from(x) : x.slice();
      x.set(state);
      const alone = findIntersections(mesh, state, rules);
      const aided = findIntersections(mesh, state, rules, memory);
      t.same(verdictOf(aided), verdictOf(alone), `round ${round}`);
      if (alone.intersectionCount > 0) meeting++;
      if (memory.wasWhole) whole++;
      else if (memory.meetingClearance) listed++;
      const closerThan = [0.02, 0.4, 2][round % 3]!;
      const { minDistance } = findDistances(mesh, state, { ...rules, maxPairs: 1 }, closerThan);
      t.equal(findMinDistance(mesh, state, rules, closerThan, memory), minDistance, `round ${round}, ${closerThan}`);
    }
    t.ok(listed > 10, `${listed} of 60 tests were served by a list`);
    t.ok(meeting > 0 && meeting < 60, `${meeting} of 60 states intersect`);
    t.ok(whole > 0);
  });
}

t.test('sheets so large that float32 does not hold their gaps get the verdicts of a complete test', async (t) => {
  const unit = 1e40;
  const { mesh, x } = sheets(9, 0.3);
  for (let k = 0; k < x.length; k++) x[k]! *= unit;
  const memory = new VerifierMemory(mesh);
  let meeting = 0;
  for (let round = 0; round < 40; round++) {
    const drift = 0.03 * Math.sin(round / 6) * unit;
    for (let k = 0; k < x.length; k++) x[k]! += random.between(-0.004, 0.004) * unit;
    for (let v = 0; v < 81; v++) x[3 * v + 2]! += drift;
    const state = x.slice();
    const alone = findIntersections(mesh, state, PROTECT);
    t.same(verdictOf(findIntersections(mesh, state, PROTECT, memory)), verdictOf(alone), `round ${round}`);
    if (alone.intersectionCount > 0) meeting++;
    const closerThan = [0.02, 0.4, 2][round % 3]! * unit;
    const { minDistance } = findDistances(mesh, state, { ...PROTECT, maxPairs: 1 }, closerThan);
    t.equal(findMinDistance(mesh, state, PROTECT, closerThan, memory), minDistance, `round ${round}`);
  }
  t.ok(meeting > 0 && meeting < 40, `${meeting} of 40 states intersect`);
});

t.test('edges parallel to 1e-8, whose computed distance is above the true one, are not passed over', async (t) => {
  let listed = 0;
  for (let trial = 0; trial < 150; trial++) {
    const sine = 10 ** random.between(-8.5, -6.5);
    const [a, b] = [random.between(0, 3), random.between(0, 3)];
    const along = [Math.cos(a) * Math.cos(b), Math.sin(a) * Math.cos(b), Math.sin(b)];
    const across = [-Math.sin(a), Math.cos(a), 0];
    const at = (p: number, q: number) => [0, 1, 2].map((c) => p * along[c]! + q * across[c]!);
    // Two crossing edges, and two particles a little farther apart.
    const edges = [...at(-0.5, 0), ...at(0.5, 0), ...at(-0.45, -sine / 2), ...at(0.45, sine / 2)];
    const x = Float64Array.from([...edges, 5, 5, 5, 5 + sine / 20, 5, 5]);
    const mesh = makeMesh({ vertexCount: 6, segments: [0, 1, 2, 3], particles: [4, 5] });
    const memory = new VerifierMemory(mesh);
    for (let round = 0; round < 12; round++) {
      for (let k = 0; k < x.length; k++) x[k]! += (sine / 40_000) * random.between(-1, 1);
      const state = x.slice();
      findIntersections(mesh, state, PROTECT, memory);
      if (memory.distanceClearance) listed++;
      const { minDistance } = findDistances(mesh, state, { ...PROTECT, maxPairs: 1 }, 1);
      t.equal(findMinDistance(mesh, state, PROTECT, 1, memory), minDistance, `trial ${trial}, round ${round}`);
    }
  }
  t.ok(listed > 500, `${listed} of 1800 states had a list`);
});

t.test('no gap of a list exceeds the one that was added', async (t) => {
  const { mesh } = sheets(3, 0.3);
  const relations = stateRelations(collectElements(mesh));
  const maker = new ListMaker(relations, 0, { room: 1, least: 0.5 });
  // Below the smallest float32, near it, and normal numbers.
  const added = Array.from({ length: 60 }, (_, n) => (1 + random()) * 2 ** [-151, -150, -149, -140, -127, -20][n % 6]!);
  added.forEach((gap, n) => {
    maker.add(relations[0]!.code, n, n, gap);
  });
  const { list } = maker.finish(new Float64Array(0), true)!;
  list.gaps.forEach((gap, n) => {
    t.ok(gap <= added[list.pairs[2 * n]!]!);
  });
});

t.test('no proven gap exceeds the distance of a pair', async (t) => {
  const closest = new ClosestPoints();
  const points = new Float64Array(12);
  let proven = 0;
  for (let round = 0; round < 2000; round++) {
    const scale = 10 ** random.between(-8, 4);
    const far = random.between(0, 1) < 0.3 ? 1e3 * scale : 0;
    const x = Float64Array.from({ length: 15 }, () => random.between(-scale, scale) + far);
    // Some are flat, or have an edge without length.
    if (round % 5 === 0) for (let k = 2; k < 15; k += 3) x[k] = far;
    if (round % 7 === 0) x.copyWithin(3, 0, 3);
    const separation = new Separation(x);
    const pair = Uint32Array.of(0, 1, 2, 3, 4);
    const triangle = makeMesh({ vertexCount: 5, triangles: [2, 3, 4], segments: [0, 1] });
    const distance = distanceOf(triangle, x);
    const gap = separation.gapOf(pair, 0, 2, pair, 2, 3, Infinity);
    if (gap > 0) proven++;
    t.ok(gap <= distance * (1 + 1e-12), `edge and triangle, round ${round}: ${gap} and ${distance}`);
    for (const [code, sizeA, sizeB] of [
      [VERTEX_TRIANGLE, 1, 3],
      [EDGE_EDGE, 2, 2],
    ] as const) {
      for (let k = 0; k < 12; k++) points[k] = x[k]!;
      closest.find(code, points);
      const bound = separation.gapOf(pair, 0, sizeA, pair, sizeA, sizeB, Infinity);
      t.ok(bound <= closest.distance * (1 + 1e-12) + 1e-300, `${code}, round ${round}`);
    }
  }
  t.ok(proven > 1000, `${proven} of 2000 pairs were proven to be apart`);
});

/** Of the edge 0 1 and the triangle 2 3 4. */
function distanceOf(mesh: CollisionMesh, x: Float64Array): number {
  if (findIntersections(mesh, x, PROTECT).intersectionCount > 0) return 0;
  return findDistances(mesh, x, { ...PROTECT, maxPairs: 1 }, Infinity).minDistance!;
}

t.test('a list is complete up to its width, even after there were too many pairs', async (t) => {
  const { mesh, x } = sheets(6, 0.3);
  const relations = stateRelations(collectElements(mesh));
  const [relation] = relations;
  const maker = new ListMaker(relations, 0, { room: 10, least: 1e-6 });
  const gaps: number[] = [];
  const points = new Float64Array(15);
  for (let i = 0; i < relation!.a.count; i++) {
    for (let j = 0; j < relation!.b.count; j++) {
      const gap = random.between(0, 12);
      gaps.push(gap);
      maker.add(relation!.code, i, j, gap);
    }
  }
  gather(x, relation!, 0, 0, points);
  const { within, list } = maker.finish(x, true)!;
  t.ok(within < 10, `the width shrank to ${within}`);
  t.ok(list.gaps.every((gap, n) => n === 0 || gap >= list.gaps[n - 1]!));
  t.ok(list.gaps.length >= gaps.filter((gap) => gap < within).length);
  t.equal(countWithin(list, within / 2), list.gaps.filter((gap) => gap <= within / 2).length);
  t.equal(countWithin(list, -1), 0);
});

t.test('calm vertices leave the requested room', async (t) => {
  const x = Float64Array.from({ length: 300 }, () => random.between(-1, 1));
  const moved = x.map((value, k) => value + 5 + (k < 30 ? 0.2 : 0.01 * random.between(-1, 1)));
  const lengths = measureMotion(moved, x);
  const list = { codes: new Uint8Array(0), pairs: new Uint32Array(0), gaps: new Float32Array(0) };
  const clearance = { x, within: 0.1, hasKinematic: true, list };
  const calm = findCalm(lengths, clearance, 0.02);
  t.equal(calm.moved, 10);
  t.ok(calm.most <= 0.04 && calm.marks.every((mark, v) => mark === 1 || v < 10));
  t.equal(findCalm(lengths, clearance, 0.1).moved, 100);
});
