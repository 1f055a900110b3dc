import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { HelperPool } from '../../src/threads/pool.js';
import { defineStage } from '../../src/threads/stage.js';
import { HelperLost, Team } from '../../src/threads/team.js';
import { threadsOfSystem } from '../support/refused-threads.js';
import { DEADLY, FAILING, SLOW, SQUARES, TURNS, TURNS_UNHELPED, UNHELPED, UNHURRIED } from './stages.js';

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
  while (pool.ready < cores - 1) {
    // The first runs ask for helpers, and are computed without them.
    team.run({ stage: SQUARES, arrays: squares(64), numbers: { rounds: 1 }, count: 64, chunk: 8, cost: 1e6 });
    await pause(20);
  }
  return { team, pool };
}

t.test('where the system gives no threads, a team computes alone, and has helpers when it does', async (t) => {
  const { refuse, allow } = threadsOfSystem();
  t.teardown(allow);
  const warnings: Error[] = [];
  const listen = (warning: Error) => warnings.push(warning);
  process.on('warning', listen);
  t.teardown(() => process.off('warning', listen));
  const pool = new HelperPool(2);
  const { link, forget } = pool.connect();
  const team = new Team();
  team.join(link);
  t.teardown(async () => {
    team.leave();
    forget();
    await pool.close();
  });
  const run = () => {
    const arrays = squares(64);
    team.run({ stage: SQUARES, arrays, numbers: { rounds: 1 }, count: 64, chunk: 8, cost: 1e6 });
    t.equal(arrays.squares[7], 49);
  };
  refuse();
  for (let k = 0; k < 20 && warnings.length === 0; k++) {
    run();
    await pause(5);
  }
  t.match(warnings, [{ message: /0 of 1 helper threads could be started.*no thread for you/ }]);
  allow();
  while (pool.ready < 1) {
    run();
    await pause(5);
  }
});

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
    // Whether a helper gets a core in time is up to the machine; at some time it does.
    for (let round = 0; round < 200 || !hasHelped; round++) {
      const count = 1 + ((round * 7919) % 5000);
      const arrays = squares(count);
      team.run({ stage: SQUARES, arrays, numbers: { rounds: 200 }, count, chunk: 16, cost: 1e6 });
      if (!arrays.squares.every((square, n) => square === n * n)) t.fail(`round ${round}, ${count} items`);
      hasHelped ||= arrays.by.some((slot) => slot > 0);
    }
    t.pass('a helper took chunks');
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

t.test('the thread of the request computes everything that helpers cannot', async (t) => {
  const { team } = await openTeam(t, 3);
  for (let round = 0; round < 5; round++) {
    const done = shared(400);
    team.run({ stage: UNHELPED, arrays: { done }, numbers: {}, count: 400, chunk: 10, cost: 1e6 });
    t.ok(done.every((times) => times === 1));
  }
});

/** Phases of 1 to 9 chunks. */
function phases(count: number): { after: Uint32Array; levels: number[] } {
  const after = new Uint32Array(new SharedArrayBuffer(4 * count));
  const levels: number[] = [];
  for (let n = 0, level = 1; n < count; level++) {
    const first = n;
    for (const end = Math.min(count, n + 1 + ((level * 7919) % 9)); n < end; n++) {
      after[n] = first;
      levels.push(level);
    }
  }
  return { after, levels };
}

for (const cores of [1, 2, 4]) {
  t.test(`${cores} cores: chunks of an ordered run begin when those before their turn have ended`, async (t) => {
    const { team } = await openTeam(t, cores);
    let hasHelped = false;
    for (let round = 0; round < 100 || (cores > 1 && !hasHelped); round++) {
      const count = 1 + ((round * 7919) % 400);
      const { after, levels } = phases(count);
      const arrays = { after, levels: shared(count), by: shared(count) };
      const numbers = { bad: -1, work: 2000 };
      team.run({ stage: TURNS, arrays, numbers, count, chunk: 1, cost: 1e6, after });
      if (arrays.levels.some((level, n) => level !== levels[n])) t.fail(`round ${round}, ${count} chunks`);
      hasHelped ||= arrays.by.some((slot) => slot > 0);
    }
    t.equal(hasHelped, cores > 1, 'helpers took part');
  });
}

t.test('an ordered run ends by an error of a kernel or a pulse, and where helpers give chunks back', async (t) => {
  const { team } = await openTeam(t, 3);
  const count = 200;
  const { after, levels } = phases(count);
  const arrays = { after, levels: shared(count), by: shared(count) };
  const work = { stage: TURNS, arrays, count, chunk: 1, cost: 1e6, after };
  for (const bad of [0, 37, 199]) {
    t.throws(() => team.run({ ...work, numbers: { bad, work: 2000 } }), {
      name: 'RangeError',
      message: `chunk ${bad}`,
    });
    const before = arrays.levels.slice();
    await pause(20);
    t.same(arrays.levels, before, 'nobody writes afterwards');
  }
  // How many chunks the asking thread gets is up to the scheduler of the machine; the pulse is called even if it gets none.
  const pulse = () => {
    throw new Error('no time left');
  };
  t.throws(() => team.run({ ...work, numbers: { bad: -1, work: 2000 }, pulse }), /no time left/);
  for (let round = 0; round < 5; round++) {
    const [alone, numbers] = [shared(count), {}];
    team.run({ ...work, stage: TURNS_UNHELPED, arrays: { after, levels: alone }, numbers });
    t.same([...alone], levels);
  }
  team.run({ ...work, numbers: { bad: -1, work: 100 } });
  t.same([...arrays.levels], levels, 'the next run works');
});

t.test('a kernel gets the same two objects in every run, which hold nothing in between', async (t) => {
  const team = new Team();
  const seen: { readonly arrays: { readonly done: Int32Array }; readonly numbers: { readonly by: number } }[] = [];
  const stage = defineStage(
    import.meta.url,
    'noting',
    (arrays: { readonly done: Int32Array }, numbers: { readonly by: number }, from, to) => {
      for (let n = from; n < to; n++) arrays.done[n] += numbers.by;
      seen.push({ arrays, numbers });
    },
  );
  const [outer, inner] = [new Int32Array(2), new Int32Array(2)];
  const work = { stage, count: 2, chunk: 1, cost: 1 };
  team.run({ ...work, arrays: { done: outer }, numbers: { by: 1 } });
  t.equal(seen[0].arrays.done.length, 0);
  let pulses = 0;
  const pulse = () => {
    if (++pulses === 2) team.run({ ...work, arrays: { done: inner }, numbers: { by: 7 } });
  };
  team.run({ ...work, arrays: { done: outer }, numbers: { by: 0.5 }, pulse });
  t.same([...outer], [1, 1], 'a half is cut off');
  t.same([...inner], [7, 7], 'a run within a run has objects of its own');
  t.equal(seen.length, 6);
  t.ok(
    [seen[1], seen[2], seen[5]].every(
      ({ arrays, numbers }) => arrays === seen[0].arrays && numbers === seen[0].numbers,
    ),
  );
  t.equal(seen[0].arrays.done.length, 0);
});

t.test('a pulse that throws ends the run once claimed chunks are done', async (t) => {
  const { team } = await openTeam(t, 3);
  const done = shared(5000);
  // Helpers would take minutes for all chunks: whenever this thread gets a core, some are left.
  const work = { stage: UNHURRIED, arrays: { done }, numbers: {}, count: 5000, chunk: 8, cost: 1e6 };
  const late = () => {
    throw new Error('no time left');
  };
  t.throws(() => team.run({ ...work, pulse: late }), /no time left/);
  t.ok(
    done.every((times) => times === 0),
    'a run that is late from the start does not begin',
  );

  // The second call is the asking thread's first chunk.
  let pulses = 0;
  t.throws(() => team.run({ ...work, pulse: () => ++pulses === 2 && late() }), /no time left/);
  const before = done.slice();
  await pause(300);
  t.same(done, before, 'nobody writes afterwards');
  t.ok(before[4999] === 0, 'the rest is not computed');
});

t.test('a helper that dies in the middle of a chunk is distinguished from a slow one', async (t) => {
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
  t.equal(pool.awake, 0, 'it takes no core from other threads');
  team.memory.give(taken);
  t.equal(team.memory.freeBytes, 0, 'memory that the lost helper may write to is not given to anybody');
  const arrays = squares(100);
  team.run({ stage: SQUARES, arrays, numbers: { rounds: 1 }, count: 100, chunk: 8, cost: 1e6 });
  t.equal(arrays.squares[99], 99 * 99);
  t.ok(pool.ready >= 1);
});
