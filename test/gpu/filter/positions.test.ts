import t from 'tap';
import { toFilterPositions } from '../../../gpu/filter/positions.js';
import type { Positions } from '../../../src/contract/mesh.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const SMALLEST_NORMAL = 2 ** -126;

function prepare(positions: Positions) {
  const prepared = toFilterPositions(positions);
  if (!prepared) throw new Error('refused');
  return prepared;
}

const numbers = (count: number, of: () => number): number[] => Array.from({ length: count }, of);

t.test('Float32 numbers keep their digits.', async (t) => {
  for (const scale of [2 ** -140, 1e-30, 1, 12345.678, 1e38]) {
    const x = Float32Array.from(numbers(300, () => random.between(-1, 1) * scale));
    const { values, slack } = prepare(x);
    const ratios = new Set([...x].map((value, k) => (value === 0 ? undefined : values[k] / value)));
    ratios.delete(undefined);
    t.equal(ratios.size, 1, `times ${scale}: one factor for all`);
    t.equal(Math.log2([...ratios][0] as number) % 1, 0, 'a power of two');
    t.equal(slack, 2 ** -120, 'nothing was lost');
    t.same(prepare(Float64Array.from(x)).values, values, 'and so do doubles that hold float32 numbers');
  }
});

t.test('Sizes are at most 1, and nothing is subnormal or minus zero.', async (t) => {
  for (const scale of [2 ** -149, 1e-20, 1, 7e5, 3e38, 1e200, 1e-200]) {
    const x = Float64Array.from(numbers(600, () => random.between(-1, 1) * scale * 2 ** -random.int(160)));
    x[5] = -0;
    const { values } = prepare(x);
    t.ok(
      values.every((v) => Math.abs(v) <= 1 && (v === 0 ? Object.is(v, 0) : Math.abs(v) >= SMALLEST_NORMAL)),
      `times ${scale}`,
    );
    t.ok(
      values.some((v) => Math.abs(v) > 0.2),
      'the range is used',
    );
  }
});

t.test('The slack covers the error of every difference.', async (t) => {
  for (const [offset, spread] of [
    [0, 1],
    [1e6, 1],
    [1e15, 1e10],
    [-3, 1e-5],
  ]) {
    const x = Float64Array.from(numbers(300, () => offset + spread * random.between(-1, 1)));
    const { values, slack } = prepare(x);
    // Any two coordinates of an axis give the factor, up to rounding; it is a power of two.
    const widest = [0, 1, 2].map((axis) => {
      const places = numbers(100, () => 0).map((_, k) => 3 * k + axis);
      const low = places.reduce((best, k) => (x[k] < x[best] ? k : best));
      const high = places.reduce((best, k) => (x[k] > x[best] ? k : best));
      return { low, high };
    });
    const [{ low, high }] = widest;
    const factor = 2 ** Math.round(Math.log2((values[high] - values[low]) / (x[high] - x[low])));
    let lost = 0;
    for (let k = 0; k + 3 < x.length; k++) {
      // Both differences are of neighbours in size: double holds them to 2^-53 of themselves.
      const error = Math.abs(values[k] - values[k + 3] - (x[k] - x[k + 3]) * factor);
      lost = Math.max(lost, error);
    }
    t.ok(lost > 0 && 1.25 * lost <= slack * (1 + 1e-6), `${lost} lost at ${offset}, slack ${slack}`);
    t.ok(slack < 2 ** -22, 'and is no more than float32 costs');
  }
});

t.test('The order is kept, so that boxes that overlap still do.', async (t) => {
  const x = Float64Array.from(numbers(3000, () => 1e5 + random.between(-1, 1) * 2 ** -random.int(60)));
  const { values } = prepare(x);
  for (let axis = 0; axis < 3; axis++) {
    const places = numbers(1000, () => 0).map((_, k) => 3 * k + axis);
    places.sort((i, j) => x[i] - x[j]);
    t.ok(
      places.every((k, n) => n === 0 || values[places[n - 1]] <= values[k]),
      `axis ${axis}`,
    );
  }
});

t.test('States that cannot be scaled are refused.', async (t) => {
  t.equal(toFilterPositions(Float64Array.of(1e300, 0, 0, 0, 0, 0)), undefined);
  t.equal(toFilterPositions(Float64Array.of(1e-300, 0, 0, -1e-300, 0, 0)), undefined);
  t.equal(toFilterPositions(Float64Array.of(1.7e308, 0, 0, -1.7e308, 0, 0)), undefined);
  t.ok(toFilterPositions(new Float64Array(6)), 'zero is no scale, and none is needed');
});
