import t, { type Test } from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import type { StoreFailure } from '../../src/session/keeper.js';
import { type FrameCommit, StoreDown } from '../../src/store/session-store.js';
import { refusalOf } from '../support/job.js';
import { settle } from './fake-scheduler.js';
import { at, opening, openRoom } from './room.js';

// A machine that does much else takes long to start servers; nothing is judged by time.
t.setTimeout(600_000);

/** A store that has lost everything, and processes that still have its sessions in memory. */

t.test('a store that has lost everything', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());

  let count = 0;
  const prefixOf = () => `test-${++count}`;
  async function processOf(t: Test, prefix: string, onFailure: StoreFailure = 'refuse') {
    const store = await redis.open(prefix);
    return { store, ...openRoom(t, { store: { sessions: store, onFailure } }) };
  }
  const lose = () => redis.cli('FLUSHALL');
  const KEYED = opening({ idempotencyKey: 'one: key' });

  t.test('a session is written again with its key', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: sessionId } = await a.operations.createSession(KEYED);
    lose();
    await a.operations.step({ sessionId, target: at(1) });
    t.equal((await b.operations.createSession(KEYED)).id, sessionId);
    t.equal((await refusalOf(b.operations.createSession({ ...KEYED, label: 'x' }))).code, 'INVALID_PARAMETER');
    // The key goes with the session to the next process.
    await b.operations.step({ sessionId, target: at(1) });
    lose();
    await b.operations.step({ sessionId, target: at(1) });
    t.equal((await a.operations.createSession(KEYED)).id, sessionId);
    await a.operations.deleteSession('key:one: key');
    t.equal(redis.cli('KEYS', `${prefix}:key:*`), '', 'it is free');
  });

  t.test('the process that has the session answers for its key before the session is used again', async (t) => {
    const a = await processOf(t, prefixOf());
    const { id } = await a.operations.createSession(KEYED);
    lose();
    t.equal((await refusalOf(a.operations.createSession({ ...KEYED, label: 'x' }))).code, 'INVALID_PARAMETER');
    lose();
    t.equal((await a.operations.createSession(KEYED)).id, id);
    lose();
    await a.operations.deleteSession('key:one: key');
    t.equal((await refusalOf(a.operations.getSession(id))).code, 'SESSION_NOT_FOUND');
    t.not((await a.operations.createSession(KEYED)).id, id);
  });

  t.test('a key that was used again stays with the new session', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: first } = await a.operations.createSession(KEYED);
    lose();
    const { id: second } = await b.operations.createSession(KEYED);
    await a.operations.step({ sessionId: first, target: at(1) });
    t.equal((await a.operations.createSession(KEYED)).id, second);
    await a.operations.deleteSession(first);
    t.equal((await a.operations.createSession(KEYED)).id, second);
  });

  t.test('a list shows a session that was written again beside those that were created since', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: first } = await a.operations.createSession(opening());
    lose();
    const { id: second } = await b.operations.createSession(opening());
    await a.operations.step({ sessionId: first, target: at(1) });
    const listed: string[] = [];
    let pageToken = '';
    do {
      const page = await b.operations.listSessions({ pageSize: 1, pageToken });
      listed.push(...page.sessions.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    t.same(listed, [second, first]);
  });

  for (const what of ['a step', 'a change'] as const) {
    t.test(`${what} that is under way during the loss takes effect`, async (t) => {
      const prefix = prefixOf();
      const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
      const { id: sessionId } = await a.operations.createSession(KEYED);
      await a.operations.step({ sessionId, frame: 1n, target: at(8) });
      const { store } = a;
      const [commit, update] = [store.commit.bind(store), store.update.bind(store)];
      let losses = 0;
      const loseOnce = () => {
        if (losses++ === 0) lose();
      };
      store.commit = (frame: FrameCommit) => {
        loseOnce();
        return commit(frame);
      };
      store.update = (...change) => {
        loseOnce();
        return update(...change);
      };
      if (what === 'a step')
        t.match(await a.operations.step({ sessionId, frame: 2n, target: at(8) }), { positions: at(6) });
      else await a.operations.updateSession({ sessionId, label: 'new' });
      const frame = what === 'a step' ? 2n : 1n;
      t.match(await b.operations.getSession(sessionId), { frame, label: what === 'a step' ? '' : 'new' });
    });
  }

  t.test('a store that goes down while a session is written again is down like any other', async (t) => {
    for (const onFailure of ['refuse', 'continue'] as const) {
      const { operations, store } = await processOf(t, prefixOf(), onFailure);
      const { id: sessionId } = await operations.createSession(opening({ idempotencyKey: 'key' }));
      lose();
      const replace = store.replace.bind(store);
      store.replace = () => Promise.reject(new StoreDown('It is down.'));
      const step = () => operations.step({ sessionId, frame: 1n, target: at(8) });
      if (onFailure === 'refuse') t.match(await refusalOf(step()), { code: 'STORE_UNAVAILABLE', retryable: true });
      else t.ok((await step()).report.warnings.some(({ code }) => code === 'NOT_STORED'));
      const keyed = opening({ idempotencyKey: 'key' });
      t.match(
        await refusalOf(operations.createSession(keyed)),
        { code: 'STORE_UNAVAILABLE' },
        'nobody knows whose it is',
      );
      store.replace = replace;
      t.equal((await operations.createSession(keyed)).id, sessionId);
      t.match(await step(), { positions: at(4), frame: 1n }, 'it is not lost');
      t.match(await operations.step({ sessionId, frame: 2n, afterFrame: 1n, target: at(8) }), { positions: at(6) });
    }
  });

  t.test('a session that goes on without the store keeps its place if the store has its frame after all', async (t) => {
    const { operations, store } = await processOf(t, prefixOf(), 'continue');
    const { id: sessionId } = await operations.createSession(opening());
    const commit = store.commit.bind(store);
    store.commit = async (frame) => {
      await commit(frame);
      throw new StoreDown('The answer was lost.');
    };
    t.match(await operations.step({ sessionId, target: at(8) }), { positions: at(4) });
    store.commit = commit;
    // It is not read from the store, which may lose it at any moment.
    store.claim = () => Promise.reject(new StoreDown('It is down.'));
    t.match(await operations.step({ sessionId, frame: 2n, afterFrame: 1n, target: at(8) }), { positions: at(6) });
  });

  t.test('a store that loses a session as often as it is written does not end it', async (t) => {
    const { operations, store } = await processOf(t, prefixOf());
    const { id: sessionId } = await operations.createSession(KEYED);
    const { commit, replace } = { commit: store.commit.bind(store), replace: store.replace.bind(store) };
    let losses = 0;
    const loseAfter = async <T>(written: Promise<T>): Promise<T> => {
      const verdict = await written;
      if (losses++ < 3) lose();
      return verdict;
    };
    store.replace = (session) => loseAfter(replace(session));
    lose();
    t.equal((await operations.createSession(KEYED)).id, sessionId);
    store.commit = (frame) => commit(frame);
    t.match(await operations.step({ sessionId, target: at(8) }), { positions: at(4) });
  });

  t.test('a process that ends writes the sessions that the store has lost', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: sessionId } = await a.operations.createSession(KEYED);
    await a.operations.step({ sessionId, target: at(8) });
    lose();
    await a.operations.close();
    t.match(await b.operations.step({ sessionId, frame: 2n, afterFrame: 1n }), { positions: at(6) });
  });

  t.test('a process that ends waits for no store that hangs, and refuses the calls that do', async (t) => {
    const { operations, store, clock } = await processOf(t, prefixOf());
    const { id: sessionId } = await operations.createSession(KEYED);
    const peek = store.peek.bind(store);
    store.peek = () => new Promise(() => {});
    const step = refusalOf(operations.step({ sessionId, target: at(1) }));
    await settle();
    const closing = operations.close();
    t.equal((await step).code, 'DRAINING');
    await settle();
    clock.advance(5000);
    await closing;
    store.peek = peek;
  });

  t.test('a session that only this process has left is deleted like any other', async (t) => {
    const prefix = prefixOf();
    const { operations, events } = await processOf(t, prefix);
    const { id } = await operations.createSession(opening());
    lose();
    await operations.deleteSession(id);
    t.equal((await refusalOf(operations.deleteSession(id))).code, 'SESSION_NOT_FOUND');
    t.same(
      events.flatMap((event) => (event.type === 'session' ? [event.change] : [])),
      ['created', 'deleted'],
    );
    t.equal(redis.cli('KEYS', `${prefix}:session:*`), '');
  });

  t.test(
    'a session does not leave while the store is down, though a step waits behind one of unknown fate',
    async (t) => {
      const { operations, store, scheduler, clock } = await processOf(t, prefixOf());
      // A call that follows its session pauses before.
      const ticking = setInterval(() => clock.advance(100), 5);
      t.teardown(() => clearInterval(ticking));
      const { id: sessionId } = await operations.createSession(KEYED);
      await operations.step({ sessionId, target: at(8) });
      scheduler.isManual = true;
      const refusals = [2n, 3n].map((frame) => refusalOf(operations.step({ sessionId, frame, target: at(8) })));
      while (scheduler.steps.length < 2) await settle();
      const { commit, peek, claim } = store;
      const fail = () => Promise.reject(new StoreDown());
      Object.assign(store, { commit: fail, peek: fail, claim: fail });
      scheduler.steps.at(-1)!.finish();
      for (const refusal of await Promise.all(refusals)) t.equal(refusal.code, 'STORE_UNAVAILABLE');
      Object.assign(store, { commit, peek, claim });
      lose();
      scheduler.isManual = false;
      t.match(await operations.step({ sessionId, frame: 3n, afterFrame: 1n, target: at(8) }), { positions: at(6) });
    },
  );

  t.test(
    'a session is not lost if the store loses everything once more while its process loads it again',
    async (t) => {
      const { operations, store, scheduler, clock } = await processOf(t, prefixOf());
      const ticking = setInterval(() => clock.advance(100), 5);
      t.teardown(() => clearInterval(ticking));
      const { id: sessionId } = await operations.createSession(KEYED);
      await operations.step({ sessionId, target: at(8) });
      scheduler.isManual = true;
      const first = refusalOf(operations.step({ sessionId, frame: 2n, target: at(8) }));
      const second = operations.step({ sessionId, frame: 3n, afterFrame: 1n, target: at(8) });
      const third = operations.step({ sessionId, frame: 4n, afterFrame: 3n, target: at(8) });
      while (scheduler.steps.length < 2) await settle();
      const { commit, claim } = store;
      let claims = 0;
      store.claim = (name) => {
        if (claims++ === 0) lose();
        return claim.call(store, name);
      };
      store.commit = () => Promise.reject(new StoreDown());
      scheduler.steps.at(-1)!.finish();
      t.equal((await first).code, 'STORE_UNAVAILABLE');
      store.commit = commit;
      scheduler.isManual = false;
      for (const step of scheduler.steps.slice(2)) step.finish();
      t.match(await Promise.all([second, third]), [{ positions: at(6) }, { positions: at(7) }]);
      t.equal(claims, 2);
    },
  );

  t.test('a session that was loaded is not lost if the store has lost everything meanwhile', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: sessionId } = await a.operations.createSession(opening());
    const { id: other } = await b.operations.createSession(opening());
    await a.operations.step({ sessionId, target: at(8) });
    await a.operations.close();
    b.scheduler.isManual = true;
    const step = b.operations.step({ sessionId, afterFrame: 1n, target: at(8) });
    const openings = b.scheduler.opens;
    while (openings.length < 2) await settle();
    lose();
    // Thereby the process learns of the loss.
    await b.operations.getSession(other);
    b.scheduler.isManual = false;
    openings[1]!.finish();
    t.match(await step, { positions: at(6) });
  });

  t.test('a session that another process has deleted counts as deleted once', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id } = await a.operations.createSession(opening());
    await b.operations.deleteSession(id);
    t.equal((await refusalOf(a.operations.deleteSession(id))).code, 'SESSION_NOT_FOUND');
    const changesOf = ({ events }: typeof a) =>
      events.flatMap((event) => (event.type === 'session' ? [event.change] : []));
    t.same([changesOf(a), changesOf(b)], [['created', 'moved'], ['deleted']]);
  });

  t.test('a session that expires counts as expired once, however many processes have a copy', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: sessionId } = await a.operations.createSession(opening({ idleTimeoutSeconds: 25 }));
    await b.operations.step({ sessionId, target: at(8) });
    const { id: onlyHere } = await a.operations.createSession(opening({ idleTimeoutSeconds: 25 }));
    const expiriesOf = ({ events }: typeof a) =>
      events.flatMap((event) =>
        event.type === 'session' && ['expired', 'moved'].includes(event.change) ? [event.change] : [],
      );
    a.clock.advance(25_000);
    while (expiriesOf(a).length < 2) await settle();
    t.same(expiriesOf(a).sort(), ['expired', 'moved']);
    t.equal((await refusalOf(b.operations.getSession(onlyHere))).code, 'SESSION_NOT_FOUND');
    t.match(await b.operations.getSession(sessionId), { frame: 1n }, 'the other process still has its own');
    lose();
    b.clock.advance(25_000);
    while (expiriesOf(b).length < 1) await settle();
    t.same(expiriesOf(b), ['expired'], 'though the store has lost it');
  });

  for (const what of ['copied', 'written'] as const) {
    t.test(`a session that is deleted while it is ${what} again does not come back`, async (t) => {
      const prefix = prefixOf();
      const { operations, store, clock, scheduler } = await processOf(t, prefix);
      const { id } = await operations.createSession(opening());
      lose();
      const [replace, save] = [store.replace.bind(store), scheduler.save.bind(scheduler)];
      let release = () => {};
      const isReleased = new Promise<void>((resolve) => {
        release = resolve;
      });
      let writes = 0;
      const begun = new Promise<void>((begin) => {
        store.replace = async (session) => {
          writes++;
          begin();
          await isReleased;
          return replace(session);
        };
        if (what === 'copied')
          scheduler.save = async () => {
            begin();
            await isReleased;
            return save();
          };
      });
      // The process compares its idle sessions with the store.
      clock.advance(30_000);
      await begun;
      const deleted = operations.deleteSession(id);
      // What the deletion asks the store meanwhile is answered first.
      await store.list('default');
      await settle();
      release();
      await deleted;
      await settle();
      await store.list('default');
      t.equal(redis.cli('KEYS', `${prefix}:session:*`), '');
      t.equal(writes, what === 'copied' ? 0 : 1);
      t.equal((await refusalOf(operations.getSession(id))).code, 'SESSION_NOT_FOUND');
    });
  }

  t.test('a deleted session does not come back', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    // A loss before the creation is none of the session.
    lose();
    const { id: sessionId } = await a.operations.createSession(opening({ idleTimeoutSeconds: 0 }));
    await b.operations.deleteSession(sessionId);
    a.clock.advance(60_000);
    // Redis answers when the machine lets it.
    while (a.operations.stats().sessions > 0) await settle();
    t.match(a.operations.stats(), { sessions: 0, hostBytes: 0 }, 'its memory is free');
    t.same(
      a.events.flatMap((event) => (event.type === 'session' ? [event.change] : [])),
      ['created', 'moved'],
    );
    lose();
    t.equal((await refusalOf(a.operations.getSession(sessionId))).code, 'SESSION_NOT_FOUND');
  });
});
