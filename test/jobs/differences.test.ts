import t from 'tap';
import type { Positions } from '../../src/contract/mesh.js';
import { compareToTarget, measureStretch } from '../../src/jobs/differences.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { seeded } from '../support/random.js';

const MESH = buildMesh({
  vertexCount: 4,
  triangles: Uint32Array.of(0, 1, 2),
  particles: Uint32Array.of(3),
  kinematic: Uint8Array.of(1, 0, 0, 0),
});
const DYNAMIC = 3;
const TARGET = Float64Array.of(0, 0, 0, 3, 0, 0, 0, 4, 0, 9, 9, 9);

function stretchOf(mesh: CollisionMesh, answer: Positions, target: Positions, scale: number): number {
  const off = compareToTarget(mesh, answer, target, { delta: 1, scale, isListed: false });
  return measureStretch(mesh, answer, target, scale, off);
}

t.test('distances to the target are computed over dynamic vertices', async (t) => {
  const answer = Float64Array.of(0, 0, 1, 3, 0, 0, 0, 4, 2, 9, 9, 9);
  const result = compareToTarget(MESH, answer, TARGET, { delta: 1, scale: 1, isListed: true });
  t.same(result, {
    unreachedKinematic: [0],
    deflectedVertices: 1,
    max: 2,
    rms: Math.sqrt(4 / 3),
    kinematicMax: 1,
    distances: Float32Array.of(1, 0, 2, 0),
    isOff: Uint8Array.of(1, 0, 1, 0),
    offCount: 2,
  });
  t.equal(compareToTarget(MESH, answer, TARGET, { delta: 1, scale: 1, isListed: false }).distances, undefined);
});

t.test('kinematic vertices do not count in the distances, and have a separate maximum', async (t) => {
  const bodies = (count: number) => {
    const kinematic = new Uint8Array(3 + count).fill(1, 3);
    const triangles = Uint32Array.from({ length: 3 + count }, (_, v) => v);
    const mesh = buildMesh({ vertexCount: 3 + count, triangles, kinematic });
    const target = Float64Array.from({ length: 3 * mesh.vertexCount }, (_, i) => i * i);
    const answer = target.map((x, i) => (i === 0 ? x + 3 : i === 9 ? x - 7 : x));
    return compareToTarget(mesh, answer, target, { delta: 1, scale: 1, isListed: false });
  };
  for (const count of [3, 300]) {
    const { rms, max, kinematicMax } = bodies(count);
    t.same([rms, max, kinematicMax], [Math.sqrt(9 / 3), 3, 7]);
  }
  const still = buildMesh({ vertexCount: 3, triangles: Uint32Array.of(0, 1, 2), kinematic: Uint8Array.of(1, 1, 1) });
  const x = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
  const moved = x.map((value) => value + 1);
  t.match(compareToTarget(still, moved, x, { delta: 1, scale: 1, isListed: false }), { rms: 0, max: 0 });
});

t.test('a kinematic vertex off by one bit is unreached, however small that is', async (t) => {
  const answer = TARGET.slice();
  answer[0] = Number.MIN_VALUE;
  t.same(compareToTarget(MESH, answer, TARGET, { delta: 1, scale: 1, isListed: false }).unreachedKinematic, [0]);
});

t.test('no unit is too large or too small, given the frame’s scale', async (t) => {
  for (const exponent of [-700, 700]) {
    const unit = 2 ** exponent;
    const target = TARGET.map((x) => x * unit);
    const answer = target.map((x, i) => (i === 5 ? x + 4 * unit : x));
    const { max, rms } = compareToTarget(MESH, answer, target, { delta: unit, scale: 1 / unit, isListed: false });
    t.equal(max, 4 * unit);
    t.ok(Math.abs(rms / unit - 4 / Math.sqrt(DYNAMIC)) < 1e-12);
    t.equal(stretchOf(MESH, answer, target, 1 / unit), 5 / 3);
  }
});

t.test('stretch is that of the worst edge, without edges of zero length in the target', async (t) => {
  t.equal(stretchOf(MESH, TARGET, TARGET, 1), 1);
  const longer = TARGET.slice();
  longer[3] = 6;
  t.equal(stretchOf(MESH, longer, TARGET, 1), 2);
  const shorter = TARGET.slice();
  shorter[3] = 1;
  const far = Float64Array.of(0, 0, 0, 3, 0, 0, 0, 4, 0, 8, 8, 8);
  t.equal(stretchOf(MESH, shorter, TARGET, 1), 1, 'the edge that stands is the longest');
  t.equal(
    stretchOf(
      MESH,
      far.map((x) => x / 2),
      far,
      1,
    ),
    0.5,
    'no edge stands',
  );
  const point = TARGET.slice().fill(0, 0, 9);
  t.equal(stretchOf(MESH, TARGET, point, 1), 1, 'nothing to compare with');
  const solid = buildMesh({ vertexCount: 4, tetrahedra: Uint32Array.of(0, 1, 2, 3) });
  const cube = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1);
  t.equal(
    stretchOf(
      solid,
      cube.map((x) => 3 * x),
      cube,
      1,
    ),
    3,
  );
});

t.test('skipping vertices at their targets does not change the measured differences', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const side = 6;
  const triangles: number[] = [];
  for (let row = 0; row + 1 < side; row++) {
    for (let column = 0; column + 1 < side; column++) {
      const a = row * side + column;
      triangles.push(a, a + 1, a + side, a + 1, a + side + 1, a + side);
    }
  }
  const mesh = buildMesh({ vertexCount: side * side, triangles: Uint32Array.from(triangles) });
  for (let round = 0; round < 50; round++) {
    const target = Float64Array.from({ length: 3 * mesh.vertexCount }, () => random());
    // All, some or no vertices are at their targets; the others may also come closer to each other.
    const share = (round % 5) / 4;
    const answer = target.slice();
    for (let v = 0; v < mesh.vertexCount; v++) {
      if (random() < share) for (let k = 0; k < 3; k++) answer[3 * v + k]! *= 0.5 + random();
    }
    // Moved as a whole: the ratios differ only in their last bits, and the largest of them must still be found.
    if (round >= 40) for (let k = 0; k < answer.length; k++) answer[k] = target[k]! + [0.3, 0.7, 0.1][k % 3]!;
    let stretch = 0;
    for (let e = 0; e < mesh.edges.length; e += 2) {
      const [i, j] = [mesh.edges[e]!, mesh.edges[e + 1]!];
      stretch = Math.max(stretch, squaredLength(answer, i, j) / squaredLength(target, i, j));
    }
    t.equal(stretchOf(mesh, answer, target, 1), Math.sqrt(stretch));
    let sum = 0;
    for (let k = 0; k < answer.length; k++) sum += (answer[k]! - target[k]!) ** 2;
    const { rms } = compareToTarget(mesh, answer, target, { delta: 1, scale: 1, isListed: false });
    t.ok(Math.abs(rms - Math.sqrt(sum / mesh.vertexCount)) <= 1e-12);
  }
});

function squaredLength(x: Float64Array, i: number, j: number): number {
  const [a, b, c] = [0, 1, 2].map((k) => x[3 * i + k]! - x[3 * j + k]!) as [number, number, number];
  return a * a + b * b + c * c;
}

t.test('the stretch of an edge is exact however short its reference is, and finite if a double holds it', async (t) => {
  // Far from the triangles that move, so that each of the ways to measure is used.
  const still = 12;
  const mesh = (more: object = {}) =>
    buildMesh({ vertexCount: 3 + still, triangles: Uint32Array.from({ length: 3 + still }, (_, v) => v), ...more });
  const rest = Float64Array.from({ length: 3 * (3 + still) }, (_, k) => (k * k) % 11);
  for (const short of [1e-100, 1e-110, 1e-140, 1e-154, 1e-160, 1e-170, 1e-300]) {
    const target = rest.slice();
    target.set([0, 0, 0, 3 * short, 0, 0, 0, 4 * short, 0]);
    for (const factor of [1, 2, 1e5]) {
      const one = target.slice();
      one[3] = target[3]! * factor;
      const all = one.map((x, k) => (k < 9 ? x : x + 1));
      // A shift changes the edges between the other vertices by nothing.
      for (const answer of [one, all]) t.equal(stretchOf(mesh(), answer, target, 1), factor, `${short} × ${factor}`);
    }
    const wide = target.slice();
    wide[4] = 3;
    const stretch = stretchOf(mesh(), wide, target, 1);
    t.ok(Math.abs(stretch * short - 1) < 1e-12, `${stretch} for ${short}`);
    const edges = Uint32Array.of(0, 1);
    const ofRest = stretchOf(mesh({ restLengths: { edges, lengths: Float64Array.of(short) } }), rest, rest, 1);
    const length = Math.hypot(...[0, 1, 2].map((c) => rest[c]! - rest[3 + c]!));
    t.ok(Math.abs((ofRest * short) / length - 1) < 1e-12, `${ofRest} against ${short} at rest`);
  }
});
