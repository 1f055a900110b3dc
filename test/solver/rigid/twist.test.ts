import t from 'tap';
import { fitRotation, rotationOf, turn, type Vector } from '../../../src/solver/rigid/rotation.js';
import { fitTwist, PLACEMENT_ERROR, Placement, place, reachOf, shorten } from '../../../src/solver/rigid/twist.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`TEST_SEED=${random.seed}`);

const vector = (size: number): Vector => [
  random.between(-size, size),
  random.between(-size, size),
  random.between(-size, size),
];
const cloud = (count: number, size: number, flat: Vector = [1, 1, 1]) =>
  Float32Array.from({ length: 3 * count }, (_, k) => flat[k % 3] * random.between(-size, size));
const everyVertex = (x: Float32Array) => Uint32Array.from({ length: x.length / 3 }, (_, v) => v);
const determinant = ([a, b, c, d, e, f, g, h, i]: readonly number[]) =>
  a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);

t.test('a fitted motion is the original one, even for points in a plane, on a line, and for one point', async (t) => {
  for (const flat of [[1, 1, 1] as const, [1, 1, 0] as const, [1, 0, 0] as const]) {
    for (let n = 0; n < 50; n++) {
      const x = cloud(12, 10, flat);
      const vertices = everyVertex(x);
      const spin = vector(1.5);
      const made = new Placement({ centre: vector(3), shift: vector(20), spin });
      const target = new Float32Array(x.length);
      place(vertices, made, x, x, 1e-3, target);
      const found = new Placement(fitTwist(vertices, x, target));
      const image = new Float64Array(3);
      for (const v of vertices) {
        found.at(x, 3 * v, image);
        const off = Math.hypot(...[0, 1, 2].map((c) => image[c] - target[3 * v + c]));
        if (!(off < 1e-4)) t.fail(`vertex ${v} is ${off} off`);
      }
      t.ok(Math.abs(determinant(found.rotation) - 1) < 1e-12, 'a rotation, not a reflection');
    }
  }
  const point = Float32Array.from([1, 2, 3]);
  const { shift, spin } = fitTwist(Uint32Array.of(0), point, Float32Array.from([4, 2, 3]));
  t.same(shift, [3, 0, 0]);
  t.same(spin, [0, 0, 0]);
});

t.test('a mirror image is fitted by a rotation', async (t) => {
  for (let n = 0; n < 50; n++) {
    const x = cloud(10, 5);
    const mirrored = x.map((value, k) => (k % 3 === 0 ? -value : value));
    const { rotation } = new Placement(fitTwist(everyVertex(x), x, mirrored));
    t.ok(Math.abs(determinant(rotation) - 1) < 1e-12);
  }
});

t.test('points on a line turn by the smallest angle', async (t) => {
  const s = [4, 0, 0, 0, 0, 0, 0, 0, 0];
  t.same(
    fitRotation(s, 4).map((w) => Math.abs(w) < 1e-6),
    [true, true, true],
    'not about the line itself',
  );
});

/**
 * The scale of the quaternion is off by up to 4 · 2⁻⁵³ (norm and division), which R Rᵀ shows up to eight times; each entry is
 * rounded three times, and a product adds six of them.
 */
const ORTHOGONALITY = 52 * 2 ** -53;

t.test('a rotation is orthogonal to rounding and turns by its vector', async (t) => {
  for (const size of [0, 1e-12, 1e-9, 1e-3, 1, 3]) {
    const spin = vector(size);
    const r = rotationOf(spin);
    for (const i of [0, 3, 6]) {
      for (const j of [0, 3, 6]) {
        const product = [0, 1, 2].reduce((sum, k) => sum + r[i + k] * r[j + k], 0);
        t.ok(Math.abs(product - (i === j ? 1 : 0)) <= ORTHOGONALITY, `${size}: rows ${i} and ${j}, ${product}`);
      }
    }
    const along = turn(r, spin);
    const off = Math.hypot(...along.map((value, c) => value - spin[c]));
    t.ok(off <= ORTHOGONALITY * Math.hypot(...spin), `the axis stays, to ${off}`);
  }
});

t.test(
  'a placed vertex is within an eighth of the floor of its image, and on its target if that is as near',
  async (t) => {
    let snapped = 0;
    for (let n = 0; n < 200; n++) {
      const x = cloud(20, 10 ** random.between(-1, 3));
      const vertices = everyVertex(x);
      const twist = { centre: vector(10), shift: vector(100), spin: vector(0.8) };
      const placement = new Placement(twist);
      const image = new Float64Array(3);
      const exact = Array.from(vertices, (v) => {
        placement.at(x, 3 * v, image);
        return [...image];
      });
      const largest = Math.max(...exact.flat().map(Math.abs));
      // 4√3 u of the largest coordinate, and twice the share of it that covers rounding in double.
      const floor = (1 + random.between(0, 10)) * 4 * Math.sqrt(3) * 2 ** -23 * largest * (1 + 2 ** -19);
      t.ok(largest <= reachOf(floor), 'the floor covers the image');
      const target = Float32Array.from(exact.flat(), (value) => value + floor * random.between(-0.12, 0.12));
      const z = new Float32Array(x.length);
      place(vertices, placement, x, target, floor, z);
      for (const v of vertices) {
        const off = Math.hypot(...[0, 1, 2].map((c) => z[3 * v + c] - exact[v][c]));
        if (!(off <= PLACEMENT_ERROR * floor * (1 + 1e-12))) t.fail(`${off} of ${floor}`);
        if ([0, 1, 2].every((c) => z[3 * v + c] === target[3 * v + c])) snapped++;
      }
    }
    t.ok(snapped > 100 && snapped < 3900, `${snapped} on their targets`);
  },
);

t.test('a piece turns by at most a right angle', async (t) => {
  const { shift, spin } = shorten({ centre: [0, 0, 0], shift: [6, 0, 0], spin: [0, 3, 0] }, 1);
  t.ok(Math.abs(Math.hypot(...spin) - Math.PI / 2) < 1e-12);
  t.ok(Math.abs(shift[0] - Math.PI) < 1e-12, 'and its shift is shortened with it');
  t.same(shorten({ centre: [0, 0, 0], shift: [6, 0, 0], spin: [0, 1, 0] }, 0.5).shift, [3, 0, 0]);
});
