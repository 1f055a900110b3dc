import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { HelperPool } from '../../src/threads/pool.js';
import { HelperLost, Team } from '../../src/threads/team.js';
import { DEADLY, FAILING, SLOW, SQUARES, UNHELPED } from './stages.js';

const shared = (words: number) => new Int32Array(new SharedArrayBuffer(4 * words));
const squares = (count: number) => ({ squares: new Float64Array(new SharedArrayBuffer(8 * count)), by: shared(count) });

/** A team with helpers that are ready, in a pool of its own. */
async function openTeam(t: Test, cores: number) {
  const pool = new HelperPool(cores);
  const { link, forget } = pool.connect();
  const team = new Team();
  team.join(link);
  t.teardown(async () => {
    team.leave();
    forget();
    await pool.close();
  });
  for (let n = 0; n < 500 && pool.ready < cores - 1; n++) {
    // The first runs ask for helpers, and are computed without them.
    team.run({ stage: SQUARES, arrays: squares(64), numbers: { rounds: 1 }, count: 64, chunk: 8, cost: 1e6 });
    await pause(20);
  }
  await pause(50);
  return { team, pool };
}

t.test('a team without helpers computes alone, chunk by chunk', async (t) => {
  const team = new Team();
  const arrays = squares(1000);
  let pulses = 0;
  team.run({
    stage: SQUARES,
    arrays,
    numbers: { rounds: 1 },
    count: 1000,
    chunk: 64,
    cost: 1e9,
    pulse: () => pulses++,
  });
  t.same(
    [...arrays.squares],
    Array.from({ length: 1000 }, (_, n) => n * n),
  );
  t.ok(arrays.by.every((slot) => slot === 0));
  t.equal(pulses, 16);
  t.notOk(team.canShare);
  t.equal(team.slots, 1);
  t.doesNotThrow(() => team.setBusy(true));
});

for (const cores of [2, 3, 5]) {
  t.test(`${cores} cores: every item is computed once, by helpers as well`, async (t) => {
    const { team, pool } = await openTeam(t, cores);
    t.equal(pool.ready, cores - 1);
    t.ok(team.canShare);
    let hasHelped = false;
    for (let round = 0; round < 200; round++) {
      const count = 1 + ((round * 7919) % 5000);
      const arrays = squares(count);
      team.run({ stage: SQUARES, arrays, numbers: { rounds: 200 }, count, chunk: 16, cost: 1e6 });
      if (!arrays.squares.every((square, n) => square === n * n)) t.fail(`round ${round}, ${count} items`);
      hasHelped ||= arrays.by.some((slot) => slot > 0);
    }
    t.ok(hasHelped, 'a helper took chunks');
  });
}

t.test('an error of a kernel ends the run, and the next run works', async (t) => {
  const { team } = await openTeam(t, 3);
  for (const bad of [0, 500, 999]) {
    const done = shared(1000);
    const work = { stage: FAILING, arrays: { done }, numbers: { bad }, count: 1000, chunk: 10, cost: 1e6 };
    t.throws(() => team.run(work), { name: 'RangeError', message: `item ${bad}` });
    const before = done.slice();
    await pause(30);
    t.same(done, before, 'nobody writes afterwards');
    team.run({ ...work, numbers: { bad: -1 } });
    t.ok(done.every((value) => value === 1));
  }
});

t.test('what helpers cannot compute, the asking thread computes, all of it', async (t) => {
  const { team } = await openTeam(t, 3);
  for (let round = 0; round < 5; round++) {
    const done = shared(400);
    team.run({ stage: UNHELPED, arrays: { done }, numbers: {}, count: 400, chunk: 10, cost: 1e6 });
    t.ok(done.every((times) => times === 1));
  }
});

t.test('a pulse that throws ends the run once claimed chunks are done', async (t) => {
  const { team } = await openTeam(t, 3);
  const arrays = squares(5000);
  const numbers = { rounds: 1000 };
  let pulses = 0;
  const pulse = () => {
    if (++pulses > 3) throw new Error('no time left');
  };
  t.throws(
    () => team.run({ stage: SQUARES, arrays, numbers, count: 5000, chunk: 8, cost: 1e6, pulse }),
    /no time left/,
  );
  const before = arrays.squares.slice();
  await pause(30);
  t.same(arrays.squares, before, 'nobody writes afterwards');
  t.ok(before[4999] === 0, 'the rest is not computed');
});

t.test('a helper that dies in the middle of a chunk is told from a slow one', async (t) => {
  const { team, pool } = await openTeam(t, 2);
  const slow = shared(64);
  team.run({ stage: SLOW, arrays: { done: slow }, numbers: {}, count: 64, chunk: 8, cost: 1e6 });
  t.ok(slow[0] > 0, 'the helper took a chunk');
  t.ok(
    slow.subarray(2).every((value) => value === 1),
    'a slow helper is waited for',
  );

  const done = shared(64);
  const taken = new Int32Array(team.memory.take(64));
  process.on('warning', () => {});
  const dying = (async () =>
    team.run({ stage: DEADLY, arrays: { done }, numbers: {}, count: 64, chunk: 8, cost: 1e6 }))();
  await t.rejects(dying, HelperLost);
  t.notOk(team.canShare, 'the team is alone from then on');
  team.memory.give(taken);
  t.equal(team.memory.freeBytes, 0, 'memory that the lost helper may write to is not given to anybody');
  const arrays = squares(100);
  team.run({ stage: SQUARES, arrays, numbers: { rounds: 1 }, count: 100, chunk: 8, cost: 1e6 });
  t.equal(arrays.squares[99], 99 * 99);
  t.ok(pool.ready >= 1);
});
