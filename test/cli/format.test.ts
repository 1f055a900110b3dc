import t from 'tap';
import {
  formatCount,
  formatNumber,
  formatPair,
  formatPairs,
  formatPlural,
  formatRate,
  formatSeconds,
} from '../../src/cli/format.js';

t.test('numbers have four significant digits and no trailing zeros', async (t) => {
  t.equal(formatNumber(0.001), '0.001');
  t.equal(formatNumber(0.0123456), '0.01235');
  t.equal(formatNumber(123456), '123500');
  t.equal(formatNumber(0), '0');
  t.equal(formatNumber(2e-9), '2e-9');
  t.equal(formatNumber(Number.POSITIVE_INFINITY), 'Infinity');
});

t.test('counts have thousands separators', async (t) => {
  t.equal(formatCount(0), '0');
  t.equal(formatCount(999), '999');
  t.equal(formatCount(1000), '1,000');
  t.equal(formatCount(1234567), '1,234,567');
});

t.test('plurals follow the count', async (t) => {
  t.equal(formatPlural(1, 'step'), '1 step');
  t.equal(formatPlural(0, 'step'), '0 steps');
  t.equal(formatPlural(2, 'vertex', 'vertices'), '2 vertices');
  t.same([0.5, 1, 2].map(formatRate), ['0.5 steps/s', '1 step/s', '2 steps/s']);
});

t.test('durations change their unit without a gap', async (t) => {
  t.equal(formatSeconds(0), '0 ms');
  t.equal(formatSeconds(0.0123), '12 ms');
  t.equal(formatSeconds(0.0996), '0.10 s');
  t.equal(formatSeconds(9.99), '9.99 s');
  t.equal(formatSeconds(9.999), '10.0 s');
  t.equal(formatSeconds(59.97), '1 min 00 s');
  t.equal(formatSeconds(3725), '62 min 05 s');
});

t.test('a pair names both elements by their vertices', async (t) => {
  t.equal(
    formatPair({ kind: 'VERTEX_TRIANGLE', a: [3], b: [1, 2, 4], distance: 0.00012 }),
    'vertex 3 × triangle 1-2-4, 0.00012 apart',
  );
  t.equal(formatPair({ kind: 'EDGE_TRIANGLE', a: [3, 5], b: [1, 2, 4] }), 'edge 3-5 × triangle 1-2-4');
});

t.test('a list says how many items it omits, also if it was not given all', async (t) => {
  const pair = { kind: 'VERTEX_VERTEX', a: [1], b: [2] } as const;
  t.strictSame(formatPairs([pair, pair, pair], 1000, 2).at(-1), '… and 998 more');
  t.strictSame(formatPairs([pair], 1, 2), ['vertex 1 × vertex 2']);
  t.strictSame(formatPairs([], 0, 2), []);
});
