import t from 'tap';
import { ITEMS, type Item, type Workplace } from '../../bench/hardware/items.js';
import { makeKnots } from '../../bench/hardware/knot.js';
import { exitCodeOf, type ItemResult, runItems } from '../../bench/hardware/suite.js';
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
      cost: { kind: 'alike', vertices: vertices(n), rounds: 1 },
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

/** Items on a machine where each request takes some milliseconds for its launches, and each vertex some time; the very first one waits for the compiler. */
const onCard = (items: readonly Item[], { compiling = 3_000, launches = 5, perVertex = 1e-4 } = {}) => {
  let now = 0;
  let compiles = compiling;
  const ran: string[] = [];
  const staged = items.map((item): Item => {
    const { cost, name } = item;
    return {
      ...item,
      needsData: false,
      run: async () => {
        ran.push(name);
        if ('kind' in cost) {
          now += compiles + cost.rounds * (launches + perVertex * cost.vertices);
          compiles = 0;
        } else now += cost.milliseconds;
        return { figures: {}, lines: [] };
      },
    };
  });
  const run = (minutes: number) =>
    runItems(staged, place, { elapsed: () => now, timeLimit: 60_000 * minutes, onResult: () => undefined });
  return { run, ran, elapsed: () => now };
};

t.test(
  'on a card, where tiny meshes are bound by launches, the suite measures all that it has in its ten minutes',
  async (t) => {
    const { run, elapsed } = onCard(ITEMS);
    for (const { name, leftOut } of await run(10)) t.equal(leftOut, undefined, name);
    t.ok(elapsed() < 600_000);
  },
);

t.test('a million triangles are measured before anything that could use the time up', async (t) => {
  const { run, ran } = onCard(ITEMS);
  await run(10);
  const at = ran.findIndex((name) => name.includes('500000'));
  t.ok(at >= 0 && at <= 5, `as number ${at + 1}`);
});

t.test('where a million triangles may take much of the time, smaller meshes come first', async (t) => {
  // A processor: a hundred times slower a vertex.
  const { run, ran } = onCard(ITEMS, { perVertex: 0.15 });
  const results = await run(10);
  const late = results.findIndex(({ name }) => name.startsWith('layers 500000'));
  t.equal(late, results.length - 1, 'it comes last');
  t.match(results[late].leftOut, /it may take/);
  t.ok(ran.some((name) => name.startsWith('hair')));
});

t.test('a request is forecast by the two largest meshes of its kind', async (t) => {
  // 10 ms a thousand vertices beyond 90 ms: 20,000 of them take 290 ms, not ten times as long as 2,000.
  const measured = () => plan([100, 110, 290], (n) => [1_000, 2_000, 20_000][n]);
  const before = 100 + 110;
  for (const { leftOut } of await measured().run(before + 295)) t.equal(leftOut, undefined);
  const [, , last] = await measured().run(before + 285);
  t.match(last.leftOut, /it may take/);
});

t.test('an item that failed tells nothing of the time of others', async (t) => {
  const { run } = plan([1_000, 'fails', 1], (n) => [1_000, 2_000, 4_000][n]);
  const [, failed, left] = await run(4_000);
  t.match(failed.faults, ['it failed: no room']);
  t.equal(left.leftOut, 'it may take 4 s, 3 s are left');
});

t.test(
  'items that found no contact, or a wrong answer, or failed, make the suite fail; those that were left out do not',
  async (t) => {
    const result = { name: 'an item', goal: 'a goal' };
    t.equal(
      exitCodeOf([
        { ...result, lines: [] },
        { ...result, leftOut: 'no time' },
        { ...result, faults: [] },
      ]),
      0,
    );
    t.equal(
      exitCodeOf([
        { ...result, lines: [] },
        { ...result, faults: ['the frame to 1 has no contact'] },
      ]),
      1,
    );
  },
);

t.test('without time nothing runs', async (t) => {
  for (const { leftOut, lines } of await plan([1, 1], () => 0).run(0)) {
    t.match(leftOut, /0 s are left/);
    t.equal(lines, undefined);
  }
});

t.test('an item that fails is a result, and the next one runs', async (t) => {
  const results = await plan(['fails', 5], () => 0).run(1_000);
  t.match(results, [{ faults: ['it failed: no room'] }, { lines: ['took 5'] }]);
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
