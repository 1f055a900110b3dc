import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type Costs, costOf, costsOfEngine, isOnDevice, knownCosts, meanOf, readCosts } from '../../src/plan/costs.js';
import { plan } from '../../src/plan/plan.js';
import { simulate } from '../../src/plan/simulate.js';
import { seeded } from '../support/random.js';

const size = (triangles: number, ms: number) => ({
  triangles,
  vertices: triangles / 2,
  throughput: 2000 / ms,
  processorMs: ms,
  quantiles: [ms / 2, ms, 1.5 * ms],
  sessionBytes: 1000 * triangles,
  workBytes: 2000,
});
const costs: Costs = {
  date: '2026-11-23T00:00:00Z',
  version: '0',
  algorithmVersion: '0',
  command: '',
  machine: { processor: 'one', cores: 2, memoryBytes: 1 },
  engine: 'cpu',
  adapter: '',
  quality: 'FAST',
  motion: 5,
  lanes: 2,
  baseBytes: 1e8,
  sizes: [size(100, 1), size(10_000, 100)],
};

t.test('costs are interpolated as powers between measured sizes, and marked beyond them', async (t) => {
  const middle = costOf(costs, 1000);
  t.ok(Math.abs(middle.meanMs - 10) < 1e-9, `${middle.meanMs}`);
  t.ok(Math.abs(meanOf(middle.quantiles) - 10) < 1e-9, 'the distribution has that mean');
  t.notOk(middle.isExtrapolated);
  t.ok(Math.abs(costOf(costs, 100_000).meanMs - 1000) < 1e-6);
  t.ok(costOf(costs, 100_000).isExtrapolated);
  const onCard = { ...costs, engine: 'webgpu: one', sizes: costs.sizes.map((each) => ({ ...each, processorMs: 1 })) };
  t.ok(Math.abs(costOf(onCard, 1000).meanMs - 10) < 1e-9, 'on a card: two lanes over the throughput');
  t.ok(Math.abs(costOf({ ...onCard, isSoftware: true }, 1000).meanMs - 1) < 1e-9, 'in place of a card: processor time');
});

/** Every session sends at once: phases are the first numbers drawn. */
const together = () => 0;

t.test('a queue with known times has the latencies that arithmetic gives', async (t) => {
  const one = simulate({ sessions: 1, lanes: 1, rate: 10, quantiles: [40, 40] }, together);
  t.same([...new Set(one.latencies)], [40], 'nobody to wait for');
  t.ok(Math.abs(one.utilisation - 0.4) < 1e-3, `${one.utilisation}`);
  const four = simulate({ sessions: 4, lanes: 2, rate: 10, quantiles: [40, 40] }, together);
  const counts = new Map<number, number>();
  for (const ms of four.latencies) counts.set(Math.round(ms), (counts.get(Math.round(ms)) ?? 0) + 1);
  t.same([...counts.keys()], [40, 80], 'two at a time, the others behind them');
  t.equal(counts.get(40), counts.get(80));
  const tooMuch = simulate({ sessions: 1, lanes: 1, rate: 50, quantiles: [40, 40] }, together);
  t.ok(tooMuch.latencies[0] > 10_000, 'a session that asks for too much falls behind without end');
  t.ok(tooMuch.utilisation > 0.999);
});

t.test('work is conserved, whatever the load', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (let round = 0; round < 5; round++) {
    const [sessions, lanes] = [1 + Math.floor(20 * random()), 1 + Math.floor(4 * random())];
    const load = 0.1 + 0.7 * random();
    const rate = (load * lanes * 1000) / (sessions * 10);
    // Below full load the lanes are busy for as much as is asked; a session alone cannot use two lanes.
    if (rate * 15 > 900) continue;
    const { latencies, utilisation } = simulate({ sessions, lanes, rate, quantiles: [5, 10, 15] }, random);
    t.ok(Math.abs(utilisation / load - 1) < 0.05, `${sessions} on ${lanes}: ${utilisation} of ${load}`);
    t.ok(latencies[0] >= 5 - 1e-9, 'no answer is faster than a step');
  }
});

t.test('a plan is enough, and one process less is not', async (t) => {
  const demand = { sessions: 60, triangles: 1000, rate: 10, within: 0.1 };
  const { plan: found } = plan(costs, demand);
  t.ok(found!.p99 <= 100);
  t.ok(found!.fullest >= 60 / found!.processes);
  t.equal(plan(costs, demand).plan!.p99, found!.p99, 'the same question has the same answer');
  t.ok(plan(costs, { ...demand, within: 1 }).plan!.processes <= found!.processes);
  t.ok(plan(costs, { ...demand, lanes: 8 }).plan!.processes < found!.processes);
  t.ok(plan(costs, { ...demand, sessions: 600 }).plan!.processes > 5 * found!.processes);
  t.equal(found!.trafficBytes, 60 * 10 * 500 * 24);
  t.equal(found!.memoryBytes, 1e8 + found!.fullest * costOf(costs, 1000).sessionBytes + 2000);
});

t.test('a plan on graphics cards says what each of them needs', async (t) => {
  const onCard = {
    ...costs,
    engine: 'webgpu: one',
    sizes: costs.sizes.map((each) => ({ ...each, deviceSessionBytes: 1e6, deviceBytes: 8e6 })),
  };
  const demand = { sessions: 60, triangles: 1000, rate: 10, within: 0.1 };
  const { plan: found, lanes } = plan(onCard, demand);
  // Two lanes had 8 MB at most: 1 MB that each session keeps, and 3 MB while it steps.
  t.ok(Math.abs(found!.deviceBytes! - (found!.fullest * 1e6 + lanes * 3e6)) < 1, `${found!.deviceBytes}`);
  const alone = plan(onCard, { ...demand, sessions: 1 }).plan!;
  t.ok(Math.abs(alone.deviceBytes! - 4e6) < 1, 'one session steps on one lane');
  t.equal(plan(costs, demand).plan!.deviceBytes, undefined, 'not measured');
});

t.test('memory on a graphics card does not count as memory of the machine, except on a software adapter', async (t) => {
  const onCard = {
    ...costs,
    engine: 'webgpu: one',
    sizes: costs.sizes.map((each) => ({ ...each, sessionBytes: 1e6, deviceSessionBytes: 9e5, deviceBytes: 8e6 })),
  };
  const demand = { sessions: 60, triangles: 1000, rate: 10, within: 0.1 };
  const found = plan(onCard, demand).plan!;
  t.ok(Math.abs(found.memoryBytes - (1e8 + found.fullest * 1e5 + 2000)) < 1, `${found.memoryBytes}`);
  const standIn = plan({ ...onCard, isSoftware: true }, demand).plan!;
  t.ok(Math.abs(standIn.memoryBytes - (1e8 + standIn.fullest * 1e6 + 2000)) < 1, `${standIn.memoryBytes}`);
});

t.test('a graphics card is not planned with more lanes than were measured', async (t) => {
  const onCard = { ...costs, engine: 'webgpu: one' };
  const demand = { sessions: 60, triangles: 1000, rate: 10, within: 0.1 };
  for (const lanes of [1, 8]) t.throws(() => plan(onCard, { ...demand, lanes }), /lanes that were measured, 2 here/);
  t.same(plan(onCard, { ...demand, lanes: 2 }), plan(onCard, demand), 'those that were measured');
});

t.test('the program contains costs of both engines, and those of webgpu name their adapter', async (t) => {
  t.notOk(isOnDevice(costsOfEngine('cpu')));
  const costsOfCard = costsOfEngine('webgpu');
  t.ok(isOnDevice(costsOfCard));
  t.type(costsOfCard.isSoftware, 'boolean');
  t.ok(costsOfCard.sizes.every(({ deviceBytes = 0, deviceSessionBytes = 0 }) => deviceBytes >= deviceSessionBytes));
  t.ok(costsOfCard.sizes.every(({ deviceBytes = 0 }) => deviceBytes > 0));
});

t.test('a latency that a single session cannot have is refused, with the one that it can have', async (t) => {
  const { plan: found, bestRate } = plan(costs, { sessions: 500, triangles: 10_000, rate: 30, within: 1 / 30 });
  t.equal(found, undefined);
  t.equal(bestRate, 0, 'a step takes longer than the time allowed');
  const slower = plan(costs, { sessions: 5, triangles: 10_000, rate: 30, within: 0.2 });
  t.equal(slower.plan, undefined);
  t.ok(slower.bestRate > 5 && slower.bestRate < 10, `${slower.bestRate}`);
});

t.test('with the default latency, the highest rate is one that can be asked for', async (t) => {
  const asked = { sessions: 5, triangles: 10_000, rate: 30 };
  const { plan: found, bestRate } = plan(costs, asked);
  t.equal(found, undefined);
  t.ok(bestRate > 5 && bestRate < 10, `${bestRate}: a step takes 100 ms on average and 150 ms at most`);
  t.ok(plan(costs, { ...asked, rate: bestRate }).plan, 'that rate has a plan');
  t.equal(plan(costs, { ...asked, rate: 1.05 * bestRate }).plan, undefined, 'a higher one has none');
  const same = plan(costs, { sessions: 60, triangles: 1000, rate: 10 });
  t.same(
    same.plan,
    plan(costs, { sessions: 60, triangles: 1000, rate: 10, within: 0.1 }).plan,
    'the default is 1/rate',
  );
});

t.test('lanes of which more is asked than they can do are not enough, however much time is allowed', async (t) => {
  const { plan: found } = plan(costs, { sessions: 60, triangles: 1000, rate: 10, within: 3600 });
  // A step takes 10 ms on average.
  t.ok(found!.fullest * 10 * 10 <= 2 * 1000, `${found!.fullest} sessions on two lanes`);
  t.ok(found!.processes > 3, `${found!.processes}: chance gives one of them more than its share`);
});

t.test('the processes for sessions that are spread evenly are known too, also where chance allows none', async (t) => {
  const few = plan(costs, { sessions: 600, triangles: 1000, rate: 10 });
  t.ok(few.evenly! < few.plan!.processes);
  const each = Math.ceil(600 / few.evenly!);
  t.ok(each <= few.plan!.fullest + 1, `${each} on each`);
  t.equal(plan(costs, { sessions: 1, triangles: 1000, rate: 10 }).evenly, 1);
  const crowd = plan(costs, { sessions: 100_000, triangles: 1000, rate: 40 });
  t.equal(crowd.plan, undefined, 'with 100,000 processes one still has too many');
  t.ok(crowd.bestRate > 40, 'although one session alone is in time');
  t.ok(crowd.evenly! >= 20_000 && crowd.evenly! <= 50_000, `${crowd.evenly}`);
  t.equal(plan(costs, { sessions: 5, triangles: 10_000, rate: 30 }).evenly, undefined);
});

t.test('files of costs are found by name or path, and other files are refused', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'interstice-costs-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const write = (name: string, value: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(value));
    return path;
  };
  const backwards = { ...costs, sizes: [...costs.sizes].reverse() };
  t.same(readCosts(write('right.json', backwards)).sizes, costs.sizes, 'sorted');
  t.throws(() => readCosts(write('wrong.json', { sizes: [] })), /plan --measure/);
  for (const [name, value] of Object.entries({
    'null.json': null,
    'words.json': { ...costs, sizes: 'many' },
    'no-quantiles.json': { ...costs, sizes: costs.sizes.map(({ quantiles: _, ...size }) => size) },
    'less-than-nothing.json': { ...costs, sizes: costs.sizes.map((each) => ({ ...each, deviceBytes: -1 })) },
    'no-machine.json': { ...costs, machine: null },
    'no-date.json': { ...costs, date: 5 },
    'twice.json': { ...costs, sizes: [costs.sizes[0], costs.sizes[0]] },
  }))
    t.throws(() => readCosts(write(name, value)), /plan --measure/, name);
  writeFileSync(join(folder, 'empty.obj'), '');
  t.throws(
    () => readCosts(join(folder, 'empty.obj')),
    /empty\.obj is not a file of costs: "interstice plan --measure"/,
  );
  t.throws(() => readCosts('nope'), /nope is neither a file .* \(cpu-2-cores, /, 'the message lists the names');
  t.throws(() => readCosts(write('nan.json', { ...costs, lanes: null })), /plan --measure/);
  t.ok(knownCosts().includes('cpu-2-cores'));
  for (const name of knownCosts()) t.ok(readCosts(name).sizes.length > 1, name);
});
