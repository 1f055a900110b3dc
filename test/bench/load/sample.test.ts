import t from 'tap';
import { median, ratiosByRound } from '../../../bench/load/contestants.js';
import { figuresOf } from '../../../bench/load/scenarios/overhead-lines.js';
import {
  acceptedBySession,
  overheadOf,
  percentile,
  type Sample,
  splitOf,
  summarise,
} from '../../../src/load/sample.js';
import { formatTable } from '../../../src/load/table.js';

const timings = {
  queue: 1000,
  decode: 100,
  upload: 200,
  search: 10_000,
  geometry: 20_000,
  backward: 3000,
  forward: 4000,
  verify: 5000,
  readback: 300,
  encode: 400,
  total: 50_000,
};
const accepted = (ms: number, session = 0): Sample => ({ session, ms, code: 'OK', timings });

t.test('the parts of a request add up to what its client waited', async (t) => {
  const split = splitOf(accepted(52));
  t.match(split, {
    queue: 1,
    transport: 2,
    decode: 0.1,
    upload: 0.2,
    compute: 37,
    verify: 5,
    readback: 0.3,
    encode: 0.4,
  });
  const sum = Object.values(split).reduce((total, part) => total + part, 0);
  t.ok(Math.abs(sum - 52) < 1e-9, `${sum}`);
  t.equal(overheadOf(accepted(52)), 52 - 42);
});

t.test('percentiles are values that occurred', async (t) => {
  const values = [5, 1, 4, 2, 3];
  t.equal(percentile(values, 50), 3);
  t.equal(percentile(values, 99), 5);
  t.equal(percentile(values, 1), 1);
  t.same(values, [5, 1, 4, 2, 3], 'the list stays as it was');
  t.ok(Number.isNaN(percentile([], 50)));
});

t.test('refusals count apart and slow no percentile of what was accepted', async (t) => {
  const refused: Sample[] = [900, 1000].map((ms) => ({ session: 1, ms, code: 'QUEUE_FULL' }));
  const summary = summarise([accepted(50), accepted(60), ...refused], 2);
  t.match(summary, { accepted: 2, throughput: 1, p50: 50, p99: 60, refused: { QUEUE_FULL: 2 }, refusedP99: 1000 });
  t.equal(summary.split.queue, 1);
});

t.test('a session that starves is seen, and refusals are no steps', async (t) => {
  const samples = [accepted(5, 0), accepted(5, 2), accepted(5, 2), { session: 1, ms: 1, code: 'QUEUE_FULL' }];
  t.same(acceptedBySession(samples, 4), [1, 0, 2, 0]);
});

t.test('a machine that is busy for some rounds does not decide between two contestants', async (t) => {
  // 1.1 times as fast in every round; the medians of the two say the opposite once a turn of one is disturbed.
  const other = [100, 20, 200];
  t.ok(Math.abs(median(ratiosByRound([110, 22, 220], other)) - 1.1) < 1e-12);
  const disturbed = [60, 22, 220];
  t.ok(median(disturbed) < median(other));
  t.ok(median(ratiosByRound(disturbed, other)) > 1);
});

t.test('the overhead of a step is compared with both echoes', async (t) => {
  const rounds = [1, 2, 30].map((echo) => ({ echo, late: 4 * echo, step: accepted(50) }));
  t.match(figuresOf(rounds), { step: 50, echo: 2, late: 8, added: 8, share: 8 / 50, echoesAdded: 4, latesAdded: 1 });
});

t.test('tables line up', async (t) => {
  const table = formatTable([
    { run: 'a', ms: 1.234, n: 7 },
    { run: 'long', ms: 123.4, n: 1000 },
    { run: 'none', ms: Number.NaN, n: 0 },
  ]);
  t.equal(
    table,
    [
      '| run  |   ms |    n |',
      '|------|-----:|-----:|',
      '| a    | 1.23 |    7 |',
      '| long |  123 | 1000 |',
      '| none |    – |    0 |',
    ].join('\n'),
  );
});
