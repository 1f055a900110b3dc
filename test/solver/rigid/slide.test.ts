import t from 'tap';
import type { Vector } from '../../../src/solver/rigid/rotation.js';
import { Inertia, slidePast } from '../../../src/solver/rigid/slide.js';

/** Eight corners of a cube of side 2. */
const x = Float32Array.from({ length: 24 }, (_, k) => ((Math.floor(k / 3) >> (k % 3)) & 1 ? 1 : -1));
const vertices = Uint32Array.from({ length: 8 }, (_, v) => v);
const centre: Vector = [0, 0, 0];
const inertia = new Inertia(vertices, x, centre);
const near = (a: readonly number[], b: readonly number[]) => a.every((value, c) => Math.abs(value - b[c]) < 1e-4);

const wall = (normal: Vector, at: Vector, room: number) => ({
  normal,
  a: { group: 0, at, beyond: 0 },
  b: { group: -1, at: [0, 0, 0] as const, beyond: 0 },
  room,
});

t.test('a motion without obstacles is the wanted one', async (t) => {
  const wish = { centre, shift: [1, 2, 3] as const, spin: [0.1, 0, 0.2] as const };
  t.same(slidePast([wish], [inertia], []), [wish]);
});

t.test('a motion slides along a wall in its way', async (t) => {
  const wish = { centre, shift: [4, -3, 0] as const, spin: [0, 0, 0] as const };
  const corners: Vector[] = [
    [-1, -1, -1],
    [1, -1, -1],
    [-1, -1, 1],
    [1, -1, 1],
  ];
  const [{ shift, spin }] = slidePast(
    [wish],
    [inertia],
    corners.map((at) => wall([0, 1, 0], at, 1)),
  );
  t.ok(near(shift, [4, -1, 0]), `${shift}`);
  t.ok(near(spin, [0, 0, 0]), `${spin}`);
});

t.test('a single corner that is held turns the motion', async (t) => {
  const wish = { centre, shift: [0, -3, 0] as const, spin: [0, 0, 0] as const };
  const at: Vector = [1, -1, 0];
  const [{ shift, spin }] = slidePast([wish], [inertia], [wall([0, 1, 0], at, 0)]);
  // n·(v + ω × r) = 0 at the corner: it stays, the centre goes on, and the cube turns.
  t.ok(Math.abs(shift[1] + spin[2] * at[0]) < 1e-6);
  t.ok(shift[1] < -0.5 && spin[2] > 0.5, `${shift} ${spin}`);
});

t.test('two groups in each other’s way both yield, and one at rest does not', async (t) => {
  const wishes = [
    { centre, shift: [2, 0, 0] as const, spin: [0, 0, 0] as const },
    { centre, shift: [-2, 0, 0] as const, spin: [0, 0, 0] as const },
  ];
  const between = {
    normal: [-1, 0, 0] as const,
    a: { group: 0, at: [1, 0, 0] as const, beyond: 0 },
    b: { group: 1, at: [-1, 0, 0] as const, beyond: 0 },
    room: 1,
  };
  const both = slidePast(wishes, [inertia, inertia], [between]);
  t.ok(near(both[0].shift, [0.5, 0, 0]) && near(both[1].shift, [-0.5, 0, 0]));
  const [one, other] = slidePast(wishes, [inertia, undefined], [between]);
  t.ok(near(other.shift, [-2, 0, 0]), 'stays as wished');
  t.ok(near(one.shift, [1, 0, 0]), `${one.shift}`);
});

t.test('a point is pushed and not turned', async (t) => {
  const point = new Inertia(Uint32Array.of(0), x, [-1, -1, -1]);
  const wish = { centre: [-1, -1, -1] as const, shift: [0, -3, 0] as const, spin: [0, 0, 0] as const };
  const [{ shift, spin }] = slidePast([wish], [point], [wall([0, 1, 0], [-1, -1, -1], 1)]);
  t.ok(near(shift, [0, -1, 0]));
  t.same(spin, [0, 0, 0]);
});

t.test('the common part of two motions is found', async (t) => {
  const along = { centre, shift: [3, 0, 0] as const, spin: [0, 0, 0] as const };
  const back = { centre, shift: [-1, 0, 0] as const, spin: [0, 0, 0] as const };
  const turn = { centre, shift: [0, 0, 0] as const, spin: [0, 0, 1] as const };
  t.equal(inertia.common(along, along), 3);
  t.equal(inertia.common(along, back), 0);
  t.ok(Math.abs(inertia.common(turn, turn) - Math.SQRT2) < 1e-5, 'every corner is √2 from the axis');
});
