import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { LIMITS, refusalOf } from '../support/job.js';
import { settle } from './fake-scheduler.js';
import { opening, openRoom, stepOf } from './room.js';

const LIMIT = 250;
const limits = { ...LIMITS, maxSessions: 8, maxDeviceBytes: LIMIT };

t.test('beyond the limit the least recently used session is parked, and its next step resumes it', async (t) => {
  const { operations, scheduler, events } = openRoom(t, { limits });
  const [a, b] = [await operations.createSession(opening()), await operations.createSession(opening())];
  await operations.step(stepOf(a, 1));
  const c = await operations.createSession(opening());
  t.same(scheduler.parked, [2], 'b was used least recently');
  t.match(await operations.getSession(b.id), { residency: 'PARKED', deviceBytes: 0 });
  t.match(operations.stats(), { sessions: 3, parked: 1, residentBytes: 200 });
  const { frame } = await operations.step(stepOf(b, 1));
  t.equal(frame, 1n);
  t.same(scheduler.parked, [2, 1], 'a made room for it');
  t.match(await operations.getSession(b.id), { residency: 'RESIDENT', deviceBytes: 100 });
  t.match(await operations.getSession(c.id), { residency: 'RESIDENT' });
  t.match(
    events.filter((event) => event.type === 'session').map((event) => event.type === 'session' && event.change),
    ['created', 'created', 'parked', 'created', 'parked', 'resumed'],
  );
});

t.test('the data kept of a parked session count as host memory, and are given up if memory is short', async (t) => {
  for (const isShort of [false, true]) {
    const maxSessionBytes = isShort ? 20_000 : 200_000;
    const { operations, scheduler } = openRoom(t, { limits, maxSessionBytes });
    scheduler.savedBytes = 50_000;
    const a = await operations.createSession(opening());
    await operations.createSession(opening());
    const { hostBytes } = operations.stats();
    t.ok(hostBytes < 10_000);
    await operations.createSession(opening());
    await settle();
    t.same(scheduler.parked, [1]);
    t.same(scheduler.dropped, isShort ? [1] : []);
    const kept = isShort ? 0 : 50_000;
    t.equal(operations.stats().hostBytes, 1.5 * hostBytes + kept);
    await operations.step(stepOf(a, 1));
    await settle();
    // Another session was parked for it.
    t.same(scheduler.parked, [1, 2]);
    t.ok(operations.stats().hostBytes < 10_000 + kept, 'a lane holds the scene again');
  }
});

t.test('a session at work is not parked; the limit holds again after the work', async (t) => {
  const { operations, scheduler } = openRoom(t, { limits });
  const [a, b] = [await operations.createSession(opening()), await operations.createSession(opening())];
  scheduler.isManual = true;
  scheduler.residentBytes = (key) => (key === 3 ? 100 : 140);
  const steps = [operations.step(stepOf(a, 1)), operations.step(stepOf(b, 1))];
  await settle();
  const refused = refusalOf(operations.createSession(opening()));
  await settle();
  scheduler.opens.at(-1)!.finish();
  t.match(await refused, {
    code: 'OUT_OF_DEVICE_MEMORY',
    message: /needs 100 bytes.*200 of 250/,
    retryAfterSeconds: 1,
  });
  t.same(scheduler.parked, []);
  t.same(scheduler.forgotten, [3]);
  for (const job of scheduler.steps) job.finish();
  await Promise.all(steps);
  t.same(scheduler.parked, [1], 'both had grown');
  scheduler.isManual = false;
  await operations.step(stepOf(a, 2));
  t.same(scheduler.parked, [1, 2]);
  t.equal(operations.stats().residentBytes, 140);
});

t.test(
  'a scene beyond the whole limit is refused with demand and limit, and no session is parked for it',
  async (t) => {
    const { operations, scheduler } = openRoom(t, { limits });
    await operations.createSession(opening());
    scheduler.residentBytes = () => LIMIT + 1;
    const refusal = await refusalOf(operations.createSession(opening()));
    t.match(refusal, { code: 'TOO_LARGE', message: /needs 251 bytes.*limit is 250/ });
    t.same(scheduler.parked, []);
    t.equal(operations.stats().sessions, 1);
  },
);

t.test('a step whose scene outgrows the limit is refused, and its session is unchanged', async (t) => {
  const { operations, scheduler } = openRoom(t, { limits });
  const a = await operations.createSession(opening());
  await operations.step(stepOf(a, 1));
  scheduler.residentBytes = () => LIMIT + 1;
  t.equal((await refusalOf(operations.step(stepOf(a, 3)))).code, 'TOO_LARGE');
  t.same(scheduler.parked, [1], 'its memory is freed');
  t.match(await operations.getSession(a.id), { frame: 1n, residency: 'PARKED' });
  scheduler.residentBytes = () => 100;
  t.match(await operations.step(stepOf(a, undefined)), { frame: 2n });
  t.match(scheduler.steps.at(-1)!.task.state, { stateVersion: scheduler.steps[0]!.task.nextVersion });
});

t.test('a step of a parked session that fails leaves it parked', async (t) => {
  const { operations, scheduler } = openRoom(t, { limits });
  const sessions = [];
  for (let i = 0; i < 3; i++) sessions.push(await operations.createSession(opening()));
  scheduler.isManual = true;
  const step = refusalOf(operations.step(stepOf(sessions[0]!, 1)));
  await settle();
  scheduler.steps[0]!.fail(new IntersticeError('DEVICE_LOST', 'x'));
  await step;
  t.match(await operations.getSession(sessions[0]!.id), { residency: 'PARKED' });
  t.same(scheduler.parked, [1, 2, 1], 'what its lane may have built is freed as well');
});

t.test('without a limit no session is parked; the same history parks the same sessions', async (t) => {
  const free = openRoom(t);
  for (let i = 0; i < 5; i++) await free.operations.createSession(opening());
  t.same(free.scheduler.parked, []);
  const runs = [];
  for (let run = 0; run < 2; run++) {
    const { operations, scheduler } = openRoom(t, { limits });
    const sessions = [];
    for (let i = 0; i < 4; i++) sessions.push(await operations.createSession(opening()));
    for (const i of [2, 0, 1, 3, 3, 0]) await operations.step(stepOf(sessions[i]!, i));
    runs.push(scheduler.parked);
  }
  t.same(runs[0], runs[1]);
});

t.test('a failure of parking is logged', async (t) => {
  const { operations, scheduler, logged } = openRoom(t, { limits });
  scheduler.park = () => Promise.reject(new Error('no'));
  for (let i = 0; i < 3; i++) await operations.createSession(opening());
  await settle();
  t.match(logged, [{ event: 'background', message: 'Could not park a session.' }]);
});

t.test(
  'a request that finds too little memory is refused, and idle sessions are parked for the next attempt',
  async (t) => {
    const { operations, scheduler } = openRoom(t);
    const [a, b] = [await operations.createSession(opening()), await operations.createSession(opening())];
    const { mesh, start } = opening();
    const request = { mesh, start, target: start, parameters: {} };
    const refusals = ['TOO_LARGE', 'OUT_OF_DEVICE_MEMORY'] as const;
    let refusal: IntersticeError | undefined;
    const { resolve } = scheduler;
    scheduler.resolve = async (...call) => {
      if (refusal) throw refusal;
      return resolve.apply(scheduler, call);
    };
    scheduler.isManual = true;
    const step = operations.step(stepOf(b, 1));
    await settle();
    for (const code of refusals) {
      refusal = new IntersticeError(code, 'short');
      t.equal((await refusalOf(operations.resolve(request))).code, code);
      t.same(scheduler.parked, code === 'TOO_LARGE' ? [] : [1], 'not the one at work');
    }
    refusal = undefined;
    await operations.resolve(request);
    scheduler.steps[0]!.finish();
    t.equal((await step).frame, 1n);
    scheduler.isManual = false;
    t.equal((await operations.step(stepOf(a, 1))).frame, 1n, 'a parked session goes on');
  },
);
