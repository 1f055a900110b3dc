import t from 'tap';
import { GRANTED_SHARE, KEPT } from '../../../src/solver/constants.js';
import { boxBound, fillTrustBoxes, isInBox, markCut } from '../../../src/solver/cpu/boxes.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';

const f = Math.fround;
const random = seeded();
t.comment(`seed ${random.seed}`);

const settings = makeSettings({ delta: 0.1, reach: 0.18 });

function fill(
  x: Float32Array,
  y: Float32Array,
  leap: number,
  reach: number,
  { kinematic = new Uint8Array(x.length / 3), mask = new Uint8Array(x.length / 3), with: used = settings } = {},
): { box: Float32Array<ArrayBuffer>; growth: number } {
  const boxes = { box: new Float32Array(2 * x.length), growth: 0 };
  fillTrustBoxes(boxes, x, y, kinematic, used, leap, reach, mask);
  return boxes;
}

t.test('a box contains x and the way towards y up to the leap, grown by the reach', async (t) => {
  const wrong: string[] = [];
  const count = 2000;
  const size = 10 ** random.between(-2, 3);
  const x = Float32Array.from({ length: 3 * count }, () => size * random.between(-1, 1));
  const y = x.map((value) => f(value + random.between(-1, 1) * 10 ** random.between(-6, 2)));
  const leap = 0.7;
  const reach = 0.18;
  const { box, growth } = fill(x, y, leap, reach);
  t.equal(growth, f(settings.delta / 2));
  // Three roundings of numbers that are no larger than a coordinate, the leap and the reach together.
  const rounding = 4 * 2 ** -24 * (size + leap + reach);
  for (let i = 0; i < count; i++) {
    const way = [0, 1, 2].map((c) => y[3 * i + c] - x[3 * i + c]);
    const share = Math.min(1, leap / Math.hypot(...way));
    for (let c = 0; c < 3; c++) {
      const from = x[3 * i + c];
      const to = from + share * way[c];
      const [lo, hi] = [box[6 * i + c], box[6 * i + 3 + c]];
      if (Math.abs(lo - (Math.min(from, to) - reach)) > rounding) wrong.push(`vertex ${i}: lower face ${lo}`);
      if (Math.abs(hi - (Math.max(from, to) + reach)) > rounding) wrong.push(`vertex ${i}: upper face ${hi}`);
    }
    if (!isInBox(box, i, x)) wrong.push(`vertex ${i} is not in its own box`);
    if (share === 1 && !isInBox(box, i, y)) wrong.push(`vertex ${i}: y is within the leap but not in the box`);
  }
  t.strictSame(wrong.slice(0, 5), []);
});

t.test('α_box never leads out of a box, and is 1 exactly if y lies inside (100 000 motions)', async (t) => {
  const wrong: string[] = [];
  let outside = 0;
  let inside = 0;
  const x = new Float32Array(3);
  const y = new Float32Array(3);
  const next = new Float32Array(3);
  for (let n = 0; n < 100_000; n++) {
    const size = 10 ** random.between(-4, 4);
    const reach = f(10 ** random.between(-4, 0));
    const travel = 10 ** random.between(-6, random() < 0.1 ? 30 : 3);
    const start = [0, 1, 2].map(() => f(size * random.between(-1, 1)));
    x.set(start);
    for (let c = 0; c < 3; c++) y[c] = x[c] + (random() < 0.2 ? 0 : travel * random.between(-1, 1));
    const { box } = fill(x, y, 10 ** random.between(-4, 1), reach);
    // Somewhere in the box, also on a face.
    for (let c = 0; c < 3; c++) {
      const [lo, hi] = [box[c], box[3 + c]];
      x[c] = random() < 0.2 ? (random() < 0.5 ? lo : hi) : Math.min(hi, Math.max(lo, f(random.between(lo, hi))));
    }
    const alpha = boxBound(box, 0, x, y);
    const isInside = isInBox(box, 0, y);
    if (isInside) inside++;
    else outside++;
    if (!(alpha >= 0 && alpha <= 1) || (alpha === 1) !== isInside || f(alpha) !== alpha) {
      wrong.push(`α = ${alpha} for y ${isInside ? 'inside' : 'outside'}`);
    }
    if (alpha === 1) continue;
    for (let c = 0; c < 3; c++) next[c] = f(x[c] + f(alpha * f(y[c] - x[c])));
    if (!isInBox(box, 0, next)) wrong.push(`left the box: ${[...x]} towards ${[...y]}, α = ${alpha}, box ${[...box]}`);
  }
  t.strictSame(wrong.slice(0, 5), []);
  t.ok(inside > 10_000 && outside > 10_000, `${inside} inside, ${outside} outside`);
});

t.test('α_box uses all of the room in a box', async (t) => {
  const x = Float32Array.of(0, 0, 0);
  const y = Float32Array.of(10, 1, 0);
  const { box } = fill(x, y, 2, 0.5);
  const alpha = boxBound(box, 0, x, y);
  const face = 10 * (2 / Math.hypot(10, 1)) + 0.5;
  t.ok(Math.abs(alpha - face / 10) < 1e-4, `${alpha} of the way, the face lies at ${face / 10}`);
});

t.test('only a kinematic vertex at its target has a point as its box', async (t) => {
  const x = Float32Array.from({ length: 12 }, () => random.between(-1, 1));
  const y = x.slice();
  for (const i of [1, 3]) y[3 * i + 2] += 1;
  const { box } = fill(x, y, 2, 0.5, { kinematic: Uint8Array.of(0, 0, 1, 1) });
  const isPoint = (i: number): boolean =>
    [0, 1, 2].every((c) => box[6 * i + c] === x[3 * i + c] && box[6 * i + 3 + c] === x[3 * i + c]);
  t.strictSame([0, 1, 2, 3].map(isPoint), [false, false, true, false]);
  for (const i of [0, 1, 3]) {
    for (let c = 0; c < 3; c++) t.ok(box[6 * i + 3 + c] - box[6 * i + c] >= 0.999, 'the others have their reach');
  }
});

t.test('guard RADIUS: points, and half of Dmax on every side', async (t) => {
  const paper = makeSettings({ guard: 'RADIUS', searchRadiusMax: 0.4 });
  const x = Float32Array.from({ length: 9 }, () => random.between(-1, 1));
  const y = x.map((value) => value + 1);
  const { box, growth } = fill(x, y, 2, 0.5, { with: paper });
  t.equal(growth, f(0.2));
  for (let k = 0; k < 9; k++) {
    const at = 6 * Math.floor(k / 3) + (k % 3);
    t.equal(box[at], x[k]);
    t.equal(box[at + 3], x[k]);
  }
});

t.test('a vertex that is marked KEPT keeps its box', async (t) => {
  const x = Float32Array.from({ length: 9 }, () => random.between(-1, 1));
  const boxes = { box: new Float32Array(18), growth: 0 };
  fillTrustBoxes(boxes, x, x, new Uint8Array(3), settings, 1, 0.2, new Uint8Array(3));
  const before = boxes.box.slice();
  const y = x.map((value) => value + 1);
  fillTrustBoxes(boxes, x, y, Uint8Array.of(0, 0, 1), settings, 1, 0.2, Uint8Array.of(KEPT, 0, KEPT | 1));
  t.strictSame([...boxes.box.subarray(0, 6)], [...before.subarray(0, 6)]);
  t.notSame([...boxes.box.subarray(6, 12)], [...before.subarray(6, 12)]);
  t.strictSame([...boxes.box.subarray(12)], [...before.subarray(12)]);
});

t.test('a face belongs to the box, but the next number outside does not', async (t) => {
  const box = Float32Array.of(-1, -1, -1, 1, 1, 1);
  for (let c = 0; c < 3; c++) {
    for (const side of [-1, 1]) {
      const p = Float32Array.of(0, 0, 0);
      p[c] = side;
      t.ok(isInBox(box, 0, p));
      p[c] = side * (1 + 2 ** -23);
      t.notOk(isInBox(box, 0, p));
    }
  }
});

t.test('a vertex is cut if its box grants less than its share of a motion, as far as a leap goes', async (t) => {
  const leap = 2;
  const count = 9;
  const x = new Float32Array(3 * count);
  // Boxes of one unit on every side of the origin.
  const box = Float32Array.from({ length: 6 * count }, (_, k) => (k % 6 < 3 ? -1 : 1));
  const y = x.slice();
  const most = 1 / GRANTED_SHARE;
  y[0] = 0.99;
  y[3 + 1] = 0.99 * most;
  y[6 + 2] = -1.01 * most;
  // Only the first two units of a distant target count: half of them are granted, or all in a box that is as long.
  y[9] = 100;
  y[12] = 100;
  box[6 * 4 + 3] = 2;
  // Along a diagonal a leap goes 1.15 units on each axis.
  y.fill(100, 15, 18);
  y.fill(Number.MAX_VALUE, 18, 21);
  const cut = new Uint8Array(count);
  t.ok(markCut(box, x, y, leap, cut));
  t.same([...cut], [0, 0, 1, 1, 0, 0, 0, 0, 0]);
  const marked = Uint8Array.from({ length: count }, (_, i) => (i === 8 ? 1 : 0));
  t.notOk(markCut(box, x, x, leap, marked), 'what stays is not cut');
  t.equal(marked[8], 1, 'earlier marks remain');
  t.notOk(markCut(box, x, y, 0, new Uint8Array(count)), 'without a leap boxes hold every motion alike');
});
