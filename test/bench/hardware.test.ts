import t from 'tap';
import { ITEMS, type Item, type Workplace } from '../../bench/hardware/items.js';
import { makeKnots } from '../../bench/hardware/knot.js';
import { type ItemResult, runItems } from '../../bench/hardware/suite.js';
import { buildMesh } from '../../src/mesh/build.js';
import { findIntersections } from '../../src/verify/state.js';

const place = { dataFolder: undefined, tell: () => undefined } as unknown as Workplace;

/** Items that take so many milliseconds of a clock of their own. */
const plan = (costs: readonly (number | 'fails')[], vertices: (n: number) => number) => {
  let now = 0;
  const written: number[] = [];
  const items = costs.map(
    (cost, n): Item => ({
      name: `item ${n}`,
      goal: 'a goal',
      vertices: vertices(n),
      rounds: 1,
      run: async () => {
        if (cost === 'fails') throw new Error('no room');
        now += cost;
        return { figures: { cost }, lines: [`took ${cost}`] };
      },
    }),
  );
  const run = (timeLimit: number): Promise<ItemResult[]> =>
    runItems(items, place, {
      elapsed: () => now,
      timeLimit,
      onResult: (results) => {
        written.push(results.length);
      },
    });
  return { run, written };
};

t.test('what would not be done in time is left out and said so, and what follows still has its chance', async (t) => {
  const { run, written } = plan([100, 10_000, 100], (n) => [100, 10_000, 100][n]);
  const results = await run(1_000);
  t.same(
    results.map(({ leftOut }) => leftOut),
    [undefined, 'it may take 10 s, 1 s are left', undefined],
  );
  t.same(written, [1, 2, 3], 'every result is written at once');
});

t.test('without time nothing runs', async (t) => {
  for (const { leftOut, lines } of await plan([1, 1], () => 0).run(0)) {
    t.match(leftOut, /0 s are left/);
    t.equal(lines, undefined);
  }
});

t.test('an item that fails is a result, and the next one runs', async (t) => {
  const results = await plan(['fails', 5], () => 0).run(1_000);
  t.match(results, [{ leftOut: 'it failed: no room' }, { lines: ['took 5'] }]);
});

t.test('an item whose data is not there is left out', async (t) => {
  const item: Item = { ...ITEMS[0], needsData: true, run: () => t.fail('it ran') as never };
  const [result] = await runItems([item], place, { elapsed: () => 0, timeLimit: 1, onResult: () => undefined });
  t.match(result.leftOut, /INTERSTICE_DATA/);
});

t.test('knots begin free of intersections, and no two items have one name', async (t) => {
  const { mesh, start } = makeKnots(800);
  const { intersectionCount } = findIntersections(buildMesh(mesh), start, { kinematicPairs: 'PROTECT', maxPairs: 1 });
  t.equal(intersectionCount, 0);
  t.equal(mesh.vertexCount, 800);
  t.equal(new Set(ITEMS.map(({ name }) => name)).size, ITEMS.length);
});
