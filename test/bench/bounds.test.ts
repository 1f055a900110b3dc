import t from 'tap';
import { BOUNDS } from '../../bench/bounds/bounds.js';
import { type Bound, climb } from '../../bench/bounds/climb.js';
import { exactHeight, exactly, ONE, ratioOf } from '../../bench/bounds/exact.js';
import { Random } from '../../bench/prove/scenes/random.js';
import { seeded } from '../support/random.js';

const { seed } = seeded();
t.comment(`seed ${seed}`);

/** So many inputs. */
const times = (count: number) => {
  let left = count;
  return () => --left <= 0;
};

for (const bound of BOUNDS) {
  t.test(`no input exceeds its bound: ${bound.name}`, async (t) => {
    const { ratio, input, tried } = climb(bound, new Random(seed), times(600));
    t.ok(tried > 500);
    t.ok(input.length > 0, 'inputs of the domain are tried');
    t.ok(ratio <= 1, `${ratio} of the bound, by ${JSON.stringify(input)}`);
  });
}

t.test('planted: a bound that is half of the error is exceeded', async (t) => {
  // A product in float32 errs by at most half of a unit in the last place.
  const halved: Bound = {
    name: 'a product',
    at: '',
    numbers: Float32Array,
    draw: (random) => [random.between(1, 2), random.between(1, 2)],
    ratio: ([a, b]) => Math.abs(Math.fround(a! * b!) - a! * b!) / (2 ** -25 * Math.abs(a! * b!)),
  };
  const { ratio, input } = climb(halved, new Random(seed), times(2000));
  t.ok(ratio > 1 && ratio <= 2, `${ratio}`);
  t.equal(ratio, halved.ratio(Float32Array.from(input)), 'the input is the one that was reached');
});

t.test('exact arithmetic over doubles', async (t) => {
  t.equal(exactly(0.1) + exactly(0.2) === exactly(0.3), false);
  t.equal(exactly(-1.5) * 2n, -3n * ONE);
  t.equal(exactly(2 ** -1074), 1n);
  t.equal(ratioOf(-3n * ONE, 4n * ONE), 0.75);
  t.equal(ratioOf(1n, 2n ** 200n), 2 ** -200);
  t.equal(exactHeight([1, 2, 3], [1, 1, 1], [0, 0, 0.5]), (9n * ONE * ONE) / 2n);
});
