import t, { type Test } from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import type { FakeClock } from './fake-scheduler.js';
import { opening, openRoom, stepOf } from './room.js';

/** The time to live of sessions in a store. The service has the clock of the test, and the store its own. */

// A machine that does much else takes long to start servers; nothing is judged by time.
t.setTimeout(600_000);

/** Seconds; longer than this file takes on any machine. */
const IDLE = 10_000;
/** ms that are left of a time to live which was not renewed for long */
const LITTLE_MS = 1000 * (IDLE / 2);

t.test('the time to live in the store', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  let count = 0;

  async function roomOf(t: Test, prefix: string) {
    const store = await redis.open(prefix);
    // The first use of a script is sent twice.
    await store.touch({ tenant: 'default', id: 'none', epoch: 1 }, 0);
    return { ...openRoom(t, { store: { sessions: store, onFailure: 'refuse' } }), store };
  }
  /** Timers besides the one that compares idle sessions with the store. */
  const timersOf = ({ timerCount }: Pick<FakeClock, 'timerCount'>) => timerCount - 1;
  type Room = Awaited<ReturnType<typeof roomOf>>;

  const keysOf = (prefix: string, id: string) => ['session', 'log'].map((what) => `${prefix}:${what}:default:${id}`);

  /** Whether the service renews the time to live within a quarter of the idle timeout. */
  async function isRenewed({ clock, store }: Room, prefix: string, id: string): Promise<boolean> {
    for (const key of keysOf(prefix, id)) redis.cli('PEXPIRE', key, String(LITTLE_MS));
    clock.advance((IDLE / 4) * 1000);
    // The store answers this after what it was sent before.
    await store.peek({ tenant: 'default', id });
    const left = keysOf(prefix, id).map((key) => Number(redis.cli('PTTL', key)));
    return left.every((ms) => ms === -2 || ms > LITTLE_MS);
  }

  t.test('a session does not expire while it has work, and does afterwards', async (t) => {
    const prefix = `test-${++count}`;
    const room = await roomOf(t, prefix);
    const { operations, scheduler, clock } = room;
    const session = await operations.createSession(opening({ idleTimeoutSeconds: IDLE }));
    const { id } = session;
    scheduler.isManual = true;
    const works = [operations.step(stepOf(session, 1)), operations.step(stepOf(session, 2))];
    await until(() => scheduler.steps.length === 1);
    for (let k = 0; k < 6; k++) t.equal(await isRenewed(room, prefix, id), true, 'while a step runs and one waits');
    scheduler.steps[0]!.finish();
    await until(() => scheduler.steps.length === 2);
    for (let k = 0; k < 6; k++) t.equal(await isRenewed(room, prefix, id), true, 'while the other one runs');
    scheduler.steps[1]!.finish();
    t.match(await Promise.all(works), [{ frame: 1n }, { frame: 2n }]);

    scheduler.holdsChecks = true;
    const check = operations.check({ sessionId: id });
    await until(() => scheduler.checks.length === 1);
    for (let k = 0; k < 6; k++) t.equal(await isRenewed(room, prefix, id), true, 'while a check runs');
    scheduler.checks[0]!.fail(new Error('It is over.'));
    await t.rejects(check);

    t.equal(await isRenewed(room, prefix, id), false, 'not without work');
    t.equal(timersOf(clock), 1, 'that of its idle timeout');
  });

  t.test('a new idle timeout applies to the work that runs', async (t) => {
    const prefix = `test-${++count}`;
    const room = await roomOf(t, prefix);
    const { operations, scheduler, clock } = room;
    const session = await operations.createSession(opening({ idleTimeoutSeconds: 0 }));
    const { id } = session;
    scheduler.isManual = true;
    const step = operations.step(stepOf(session, 1));
    await until(() => scheduler.steps.length === 1);
    t.equal(timersOf(clock), 0, 'a session that never expires needs none');
    await operations.updateSession({ sessionId: id, idleTimeoutSeconds: IDLE });
    t.equal(await isRenewed(room, prefix, id), true);
    await operations.deleteSession(id);
    await t.rejects(step, { code: 'CANCELLED' });
    t.equal(timersOf(clock), 0, 'nor does one that has left');
  });

  t.test('a session does not expire while a process loads it', async (t) => {
    const prefix = `test-${++count}`;
    const before = await roomOf(t, prefix);
    const session = await before.operations.createSession(opening({ idleTimeoutSeconds: IDLE }));
    const { id } = session;
    await before.operations.step(stepOf(session, 1));
    const room = await roomOf(t, prefix);
    const { operations, scheduler, clock } = room;
    scheduler.isManual = true;
    for (const key of keysOf(prefix, id)) redis.cli('PEXPIRE', key, String(LITTLE_MS));
    const step = operations.step(stepOf(session, 2));
    await until(() => scheduler.opens.length === 1);
    await room.store.peek({ tenant: 'default', id });
    t.ok(Number(redis.cli('PTTL', keysOf(prefix, id)[0]!)) > LITTLE_MS, 'a claim is a use');
    for (let k = 0; k < 6; k++) t.equal(await isRenewed(room, prefix, id), true, 'while its scene is opened');
    scheduler.opens[0]!.finish();
    await until(() => scheduler.steps.length === 1);
    for (let k = 0; k < 6; k++) t.equal(await isRenewed(room, prefix, id), true, 'while its frame is computed again');
    scheduler.steps[0]!.finish();
    await until(() => scheduler.steps.length === 2);
    scheduler.steps[1]!.finish();
    t.match(await step, { frame: 2n });
    t.equal(await isRenewed(room, prefix, id), false, 'not afterwards');
    t.equal(timersOf(clock), 1, 'that of its idle timeout');
  });
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
