import t from 'tap';
import { EE, VT } from '../../../src/solver/pair-kinds.js';
import { PairPath } from '../../../src/solver/volume-impulses/pair-path.js';
import { ClosestPoints } from '../../../src/verify/closest.js';
import { EDGE_EDGE, VERTEX_TRIANGLE } from '../../../src/verify/pair-kinds.js';
import { pathMeets } from '../../../src/verify/path.js';
import { placePair, SHAPES } from '../../support/pair-shapes.js';
import { seeded } from '../../support/random.js';

const FLOOR = 1e-3;
const TRIANGLE = [0, 0, 0, 1, 0, 0, 0, 1, 0];
const EDGE = [0, 0, 0, 1, 0, 0];
const path = new PairPath();
const meets = (kind: number, from: readonly number[], to: readonly number[], floor = FLOOR) =>
  path.meets(kind, Float32Array.from(from), Float32Array.from(to), 0, 1, 2, 3, floor);

t.test('pairs that meet or come too near are distinguished from those that stay apart', async (t) => {
  const vertex = (from: readonly number[], to: readonly number[]) =>
    meets(VT, [...from, ...TRIANGLE], [...to, ...TRIANGLE]);
  t.ok(vertex([0.2, 0.2, 0.1], [0.2, 0.2, -0.1]), 'through the triangle');
  t.ok(vertex([0.2, 0.2, 0.1], [0.2, 0.2, 0]), 'onto the triangle');
  t.ok(vertex([0.2, 0.2, 0.1], [0.2, 0.2, 0.4 * FLOOR]), 'nearer than half of the floor');
  t.notOk(vertex([0.2, 0.2, 0.1], [0.2, 0.2, 0.6 * FLOOR]), 'to more than half of the floor');
  t.notOk(vertex([0.2, 0.2, 0.1], [0.2, 0.2, 1]), 'away');
  t.notOk(vertex([2, 2, 0.1], [2, 2, -0.1]), 'past the triangle');
  t.notOk(vertex([-0.5, 0.2, -0.1], [0.1, 0.2, 0.5]), 'past its side');
  t.ok(vertex([0.2, -0.1, 0.1], [0.2, 0.3, -0.3]), 'through the plane within it');
  t.notOk(vertex([0.2, 0.2, 0.3 * FLOOR], [0.2, 0.2, 0.31 * FLOOR]), 'closer than the floor, not approaching');
  t.ok(vertex([0.2, 0.2, 0.3 * FLOOR], [0.2, 0.2, 0.29 * FLOOR]), 'closer than the floor, approaching');
  const edge = (from: readonly number[], to: readonly number[]) => meets(EE, [...from, ...EDGE], [...to, ...EDGE]);
  t.ok(edge([0.5, -1, 0.1, 0.5, 1, 0.1], [0.5, -1, -0.1, 0.5, 1, -0.1]), 'two edges cross');
  t.notOk(edge([2.5, -1, 0.1, 2.5, 1, 0.1], [2.5, -1, -0.1, 2.5, 1, -0.1]), 'beyond its end');
  t.ok(edge([0, 0, 0.1, 1, 0, 0.1], [0, 0, -0.1, 1, 0, -0.1]), 'parallel, through each other');
  t.notOk(edge([0, 0, 0.1, 1, 0, 0.1], [0, 0.5, 0.1, 1, 0.5, 0.1]), 'parallel, sideways');
});

t.test('a pair that moves as one never meets; a pair that touches and moves does', async (t) => {
  const from = [0.25, 0.25, 0, ...TRIANGLE];
  t.notOk(
    meets(
      VT,
      from,
      from.map((value) => value + 8),
    ),
  );
  t.ok(meets(VT, from, [0.25, 0.25, 1, ...TRIANGLE]), 'nothing parts them at the start');
});

t.test('a motion that the differences of coordinates round away is a motion', async (t) => {
  // The triangle lies in the plane x + y = 0, and no coordinate in which the vertex moves is 0 in it.
  const triangle = [1, -1, -1, -1, 1, -2, -1, 1, 3];
  for (const size of [1e-15, 1e-17, 1e-20, 1e-30]) {
    t.ok(meets(VT, [size, 0, 0, ...triangle], [-size, 0, 0, ...triangle]), `through the triangle by ${size}`);
    t.notOk(meets(VT, [size, 0, 0, ...triangle], [size, 0, 0, ...triangle]), `at rest, ${size} from it`);
  }
});

/*
 * Numbers that are sent differ from those of the engine by up to half an ulp, and four ulp are at most a floor: by F/8
 * per coordinate.
 */
t.test('a pair that passes stays apart when both ends are rounded', async (t) => {
  const { between, seed } = seeded();
  t.comment(`TEST_SEED=${seed}`);
  // Along the diagonal, where the rounding of all coordinates adds up, and across it.
  const at = (height: number, u: number, w: number) => [
    height / Math.sqrt(3) + u / Math.SQRT2 + w / Math.sqrt(6),
    height / Math.sqrt(3) - u / Math.SQRT2 + w / Math.sqrt(6),
    height / Math.sqrt(3) - (2 * w) / Math.sqrt(6),
  ];
  let [passed, met] = [0, 0];
  for (let n = 0; n < 2000; n++) {
    // A vertex passes the first corner of a triangle.
    const height = -between(0.25, 0.7) * FLOOR;
    const triangle = [...at(0, 0, 0), ...at(1, between(-0.5, 0.5), 0), ...at(1, between(0.6, 1), between(-0.3, 0.3))];
    const from = [...at(height, -between(0.2, 1), between(-1, 1) * FLOOR), ...triangle];
    const to = [...at(height, between(0.2, 1), between(-1, 1) * FLOOR), ...triangle];
    if (meets(VT, from, to)) continue;
    passed++;
    const [start, end] = [from, to].map((x) =>
      Float64Array.from(Float32Array.from(x), (value, i) => value + (i < 3 ? FLOOR : -FLOOR) / 8),
    );
    if (pathMeets('VERTEX_TRIANGLE', start, end) !== undefined) met++;
  }
  t.ok(passed > 100, `${passed} pairs pass`);
  t.equal(met, 0);
});

/*
 * The verifier calls an end of a long thin pair a meeting where doubles cannot tell it apart: the direction of a gap g
 * is off by about 2⁻⁵³ S/g, S the size of the pair, which tilts a plane by 2⁻⁵³ S²/g at its ends; that is less than g
 * only where g > 2⁻²⁶·⁵ S. Pairs that begin nearer than eight times that are judged by their distances at many times,
 * most of them early.
 */
const VERIFIER_LIMIT = 2 ** -23.5;
const SAMPLES = Array.from({ length: 400 }, (_, n) => (n === 0 ? 0 : 2 ** (-40 * (1 - n / 399))));
const closest = new ClosestPoints();
const gapAt = (kind: number, from: Float64Array, to: Float64Array, time: number): number => {
  closest.find(
    kind === VT ? VERTEX_TRIANGLE : EDGE_EDGE,
    from.map((value, i) => (1 - time) * value + time * to[i]),
  );
  return closest.distance;
};
const sizeOf = (points: Float64Array): number => Math.max(...points.map((value, i) => Math.abs(value - points[i % 3])));

t.test('pairs that pass never meet, by the test of the verifier, and keep their gap', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const counts = { free: 0, meeting: 0, missed: 0, near: 0 };
  for (let n = 0; n < 20_000; n++) {
    const kind = n % 2 === 0 ? VT : EE;
    const start = placePair(random, kind, SHAPES[random.int(SHAPES.length)]);
    const end =
      random() < 0.5
        ? placePair(random, kind, SHAPES[random.int(SHAPES.length)])
        : Float32Array.from(start, (value) => value + random.between(-0.3, 0.3));
    const floor = 10 ** random.between(-6, -1);
    const name = kind === VT ? 'VERTEX_TRIANGLE' : 'EDGE_EDGE';
    const isFree = !path.meets(kind, start, end, 0, 1, 2, 3, floor);
    const isRigid = [3, 6, 9].every((k) => [0, 1, 2].every((c) => start[k + c] - start[c] === end[k + c] - end[c]));
    if (isFree && !isRigid) {
      const [from, to] = [Float64Array.from(start), Float64Array.from(end)];
      const isDecided = gapAt(kind, from, to, 0) > VERIFIER_LIMIT * sizeOf(from);
      const meets = isDecided
        ? pathMeets(name, from, to) !== undefined
        : SAMPLES.some((time) => !(gapAt(kind, from, to, time) > 0));
      if (meets) counts.missed++;
      if (!isDecided) counts.near++;
    }
    counts[isFree ? 'free' : 'meeting']++;
  }
  t.equal(counts.missed, 0, 'meetings that were let through');
  t.ok(counts.free > 4000 && counts.meeting > 1000 && counts.near < 0.1 * counts.free, JSON.stringify(counts));
});
