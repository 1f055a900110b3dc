import t from 'tap';
import { growthExponent, type Measurement, spreadOf } from '../../bench/measure.js';
import { formatTable } from '../../bench/table.js';

const still = { median: 1, min: 1, max: 1 };
const measurement = (vertices: number, median: number): Measurement => ({
  scene: 'layers',
  vertices,
  triangles: 2 * vertices,
  engine: 'cpu',
  status: 'CONVERGED',
  steps: 10,
  searches: 2,
  pairs: 1234,
  milliseconds: { median, min: median - 1, max: median + 1 },
  stages: { search: still, geometry: still, backward: still, forward: still, verify: still },
  millisecondsPerStep: median / 10,
  rmsToTarget: 0.0005,
  repeats: 3,
  isRepeatable: true,
});

t.test('median and spread are computed', async (t) => {
  t.same(spreadOf([5, 1, 3]), { median: 3, min: 1, max: 5 });
  t.same(spreadOf([4, 1, 2, 3]), { median: 2.5, min: 1, max: 4 });
  t.same(spreadOf([10, 9]), { median: 9.5, min: 9, max: 10 }, 'sorted as numbers, not as text');
});

t.test('growth is the exponent of a power law', async (t) => {
  const square = [100, 1000, 10_000].map((n) => measurement(n, n * n * 1e-3));
  t.ok(Math.abs((growthExponent(square) ?? 0) - 2) < 1e-12);
  const linear = (m: Measurement) => m.vertices / 7;
  t.ok(Math.abs((growthExponent(square, linear) ?? 0) - 1) < 1e-12, 'of whatever time is asked for');
  t.equal(
    growthExponent(square, (m) => (m.vertices > 100 ? 1 : undefined)),
    undefined,
    'one that was not measured says nothing',
  );
  t.equal(growthExponent([measurement(100, 5)]), undefined, 'one size says nothing');
  t.equal(growthExponent([measurement(100, 5), measurement(100, 6)]), undefined);
});

t.test('the table lines up and names a run that was not repeatable', async (t) => {
  const text = formatTable([measurement(1000, 12), { ...measurement(100_000, 1500), isRepeatable: false }]);
  const lines = text.split('\n');
  t.equal(new Set(lines.map((line) => line.length)).size, 1, 'all lines are equally long');
  t.match(lines[2], /1000 .* CONVERGED .* 0\.500 .* yes \|$/);
  t.match(lines[3], /NO \|$/);
});
