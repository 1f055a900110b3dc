import fc from 'fast-check';
import t from 'tap';
import { printFloat32, printFloat64, readFloat32, readNumber } from '../../../src/mesh/files/numbers.js';
import { seeded } from '../../support/random.js';

const { seed } = seeded();
t.comment(`seed ${seed}`);

t.test('decimals are read in the forms that programs write', async (t) => {
  const cases: [string, number][] = [
    ['1', 1],
    ['-0.5', -0.5],
    ['+2.25', 2.25],
    ['.5', 0.5],
    ['5.', 5],
    ['1e-3', 0.001],
    ['1E+3', 1000],
    ['0e5', 0],
    ['007', 7],
    ['1e999', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
  ];
  for (const [word, value] of cases) t.equal(readNumber(word, 1), value, word);
  t.ok(Object.is(readNumber('-0', 1), -0));
  for (const word of ['nan', 'NaN', '-nan', 'nan(ind)', 'inf', '-INF', '1.#QNAN', '-1.#IND', '1.#INF']) {
    t.notOk(Number.isFinite(readNumber(word, 1)), word);
  }
});

t.test('anything else is refused with its line', async (t) => {
  for (const word of [
    '0x10',
    '0b1',
    '0o7',
    '1,5',
    '1_000',
    '1.2.3',
    '--1',
    'e5',
    '.',
    '-',
    'one',
    '1n',
    '\xa0',
    '1\xa0',
  ]) {
    t.throws(() => readNumber(word, 12), { code: 'MALFORMED_BODY', message: /^Line 12: .* is not a number/ }, word);
  }
  t.throws(() => readNumber('', 12), { code: 'MALFORMED_BODY', message: 'Line 12: a number is missing.' });
  t.throws(() => readNumber('1'.repeat(3000), 12), { code: 'MALFORMED_BODY', message: /^.{1,90}$/ });
});

t.test('a float32 is rounded once, not by way of a double', async (t) => {
  // 1 + 2⁻²⁴ lies between 1 and its upper neighbour; the decimals around it round to the same double.
  const middle = '1.000000059604644775390625';
  const upper = 1 + 2 ** -23;
  t.equal(readFloat32(middle, 1), 1, 'a tie goes to the even neighbour');
  t.equal(readFloat32(`${middle}00000000000000000001`, 1), upper);
  t.equal(readFloat32('1.00000005960464477539062499999', 1), 1);
  t.equal(readFloat32(`-${middle}00000000000000000001`, 1), -upper);
  // 1 + 3 · 2⁻²⁴: here the even neighbour is above.
  t.equal(readFloat32('1.000000178813934326171875', 1), 1 + 2 ** -22);
  t.equal(readFloat32('1.00000017881393432617187499999', 1), upper);
  t.equal(readFloat32('100000017881393432617187499999e-29', 1), upper);
  // Half the smallest float32, and a bit more.
  t.equal(readFloat32('7.006492321624085354618e-46', 1), 0);
  t.equal(
    readFloat32(
      '7.00649232162408535461864791644958065640130970938257885878534141944895541342930300743319094181060791015626e-46',
      1,
    ),
    2 ** -149,
  );
  t.equal(readFloat32('16777217.0000000000000001', 1), 16777218);
  t.equal(readFloat32('1e39', 1), Number.POSITIVE_INFINITY);
});

t.test('doubles read back to the same bits, in the shortest form', async (t) => {
  t.equal(printFloat64(0.1), '0.1');
  t.equal(printFloat64(-0), '-0');
  const property = fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
    Object.is(readNumber(printFloat64(value), 1), value),
  );
  fc.assert(property, { seed, numRuns: 2000 });
});

t.test('floats read back to the same bits, in few digits', async (t) => {
  t.equal(printFloat32(Math.fround(0.1)), '0.1');
  t.equal(printFloat32(16777216), '16777216');
  t.equal(printFloat32(-0), '-0');
  const property = fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
    const text = printFloat32(value);
    const digits = text
      .replace(/e.*/, '')
      .replace(/^[-0.]*/, '')
      .replace('.', '')
      .replace(/0+$/, '');
    return Object.is(readFloat32(text, 1), value) && digits.length <= 9;
  });
  fc.assert(property, { seed, numRuns: 5000 });
});
