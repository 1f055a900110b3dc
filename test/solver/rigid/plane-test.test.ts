import t from 'tap';
import { CORNERS, SIDE_A } from '../../../src/solver/pair-kinds.js';
import { PlaneTest } from '../../../src/solver/rigid/plane-test.js';
import { ClosestPoints } from '../../../src/verify/closest.js';
import type { PairCode } from '../../../src/verify/pair-kinds.js';
import { PathMeeting } from '../../../src/verify/path-pair.js';
import { seeded } from '../../support/random.js';

const points = new ClosestPoints();
const random = seeded();
t.comment(`TEST_SEED=${random.seed}`);

t.test('a pair that passes does not meet on its way and keeps its required gap', async (t) => {
  const meeting = new PathMeeting();
  let [passed, failed, missed] = [0, 0, 0];
  for (let n = 0; n < 20_000; n++) {
    const kind = random.int(4);
    const size = 10 ** random.between(-2, 1);
    const travel = 10 ** random.between(-2, 1);
    const point = (around: number) => random.between(-around, around);
    // The pair, and one before it whose normal it may take.
    const x = Float32Array.from({ length: 24 }, () => point(size));
    // Sides that travel together, or each on its own.
    const shifts =
      random.int(2) === 0
        ? [
            [0, 0, 0],
            [0, 0, 0],
          ]
        : [0, 1].map(() => [0, 1, 2].map(() => point(travel)));
    const common = [0, 1, 2].map(() => point(travel));
    const z = x.map((value, k) => {
      const side = Math.floor((k % 12) / 3) < SIDE_A[kind] ? 0 : 1;
      return value + common[k % 3] + shifts[side][k % 3] + point(0.1 * travel);
    });
    const floor = random.between(0.2, 1) * 1e-2;
    const [from, to] = [x, z].map((state) => Float64Array.from(state.subarray(0, 12)));
    const isFree = meeting.findImpact((kind + 1) as PairCode, from, to) === undefined;
    const planes = new PlaneTest(x, z, floor, n % 2 === 1);
    planes.passes(kind, 4, 5, 6, 7);
    const passes = planes.passes(kind, 0, 1, 2, 3);
    if (!passes) {
      failed++;
      if (isFree) missed++;
      continue;
    }
    passed++;
    if (!isFree) t.fail(`kind ${kind} meets: ${[...x]} → ${[...z]}`);
    const [before, after] = [x, z].map((state) => distanceOf(kind, state));
    if (!(after >= Math.min(before, floor / 2) * (1 - 1e-5))) t.fail(`${before} → ${after}, floor ${floor}`);
  }
  t.ok(passed > 4000 && failed > 1000, `${passed} pass, ${failed} fail`);
  t.ok(missed < failed, `${missed} of those that fail would not have met`);
});

t.test(
  'a vertex that moves along a triangle and a little below it is stopped by its plane, not by its border',
  async (t) => {
    // Slots: the vertex, then the triangle, which lies ahead of it in the plane z = 0.
    const triangle = [0, -9, 0, 9, 0, 0, 0, 9, 0];
    for (const [from, to] of [
      [0.2, -0.5],
      [-0.2, 0.5],
    ] as const) {
      const planes = new PlaneTest(
        Float32Array.of(-1, 0, from, ...triangle),
        Float32Array.of(4, 0, to, ...triangle),
        1e-3,
        true,
      );
      t.notOk(planes.passes(0, 0, 1, 2, 3));
      t.strictSame(
        [...planes.normal].map((n) => n + 0),
        [0, 0, Math.sign(from)],
      );
      t.ok(Math.abs(planes.gap - 0.2) < 1e-6 && Math.abs(planes.room - 0.2) < 1e-6, `${planes.gap} ${planes.room}`);
    }
  },
);

function distanceOf(kind: number, state: Float32Array): number {
  points.find((kind + 1) as PairCode, Float64Array.from(state.subarray(0, 3 * CORNERS[kind])));
  return points.distance;
}
