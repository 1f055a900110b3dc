import t, { type Test } from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import { cancelled } from '../../src/contract/errors.js';
import type { StoreFailure } from '../../src/session/keeper.js';
import { StoreDown } from '../../src/store/session-store.js';
import { LIMITS, refusalOf } from '../support/job.js';
import { settle } from './fake-scheduler.js';
import { at, opening, openRoom } from './room.js';

// A machine that does much else takes long to start servers; nothing is judged by time.
t.setTimeout(600_000);

/** Several processes with one store, each of which has sessions in memory that another one has taken, or ended. */

t.test('sessions that move', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  let count = 0;
  const prefixOf = () => `test-${++count}`;

  async function processOf(t: Test, prefix: string, onFailure: StoreFailure = 'refuse', maxSessions = 8) {
    const store = await redis.open(prefix);
    const limits = { ...LIMITS, maxSessions };
    return { store, ...openRoom(t, { limits, store: { sessions: store, onFailure } }) };
  }

  t.test('a key whose session another process has ended is free', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const keyed = opening({ idempotencyKey: 'key', label: 'first' });
    const { id: first } = await a.operations.createSession(keyed);
    await b.operations.deleteSession(first);
    const next = { ...keyed, label: 'second' };
    const { id: second } = await b.operations.createSession(next);
    t.equal((await a.operations.createSession(next)).id, second, 'with any payload');
    await a.operations.deleteSession('key:key');
    t.same((await b.operations.listSessions({})).sessions, [], 'and leads to the new session');
  });

  t.test('the steps that wait for a session keep their order when it moves', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: sessionId } = await a.operations.createSession(opening());
    const commit = a.store.commit.bind(a.store);
    let isFirst = true;
    a.store.commit = async (frame) => {
      if (isFirst) await b.operations.check({ sessionId });
      isFirst = false;
      return commit(frame);
    };
    const frames = [1n, 2n, 3n, 4n];
    const steps = frames.map((frame) =>
      a.operations.step({ sessionId, frame, afterFrame: frame - 1n, target: at(Number(frame)) }),
    );
    const all = Promise.allSettled(steps);
    let isOver = false;
    void all.then(() => {
      isOver = true;
    });
    while (!isOver) {
      await settle();
      a.clock.advance(1000);
    }
    t.same(
      (await all).map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.frame : String(outcome.reason))),
      frames,
    );
  });

  t.test('a step behind one that was given up is not refused for frames that another process has', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: sessionId } = await a.operations.createSession(opening());
    const step = a.scheduler.step.bind(a.scheduler);
    let stop = () => {};
    const begun = new Promise<void>((resolve) => {
      // A thread notices only at its next step that nobody waits any longer.
      a.scheduler.step = () => {
        resolve();
        a.scheduler.step = step;
        return new Promise((_, reject) => {
          stop = () => reject(cancelled());
        });
      };
    });
    const abort = new AbortController();
    const first = { sessionId, frame: 1n, target: at(1) };
    const givenUp = refusalOf(a.operations.step(first, { signal: abort.signal }));
    await begun;
    abort.abort();
    t.equal((await givenUp).code, 'CANCELLED');
    await b.operations.step(first);
    const next = a.operations.step({ sessionId, frame: 2n, afterFrame: 1n, target: at(2) });
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    next.then(end, end);
    await settle();
    stop();
    while (!isOver) {
      await settle();
      a.clock.advance(1000);
    }
    t.match(await next, { frame: 2n });
  });

  t.test(
    'a step that comes while its session is loaded is not refused for frames that were accepted since',
    async (t) => {
      const prefix = prefixOf();
      const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
      const { id: sessionId } = await b.operations.createSession(opening());
      const claim = a.store.claim.bind(a.store);
      let go = () => {};
      const claimed = new Promise<void>((resolve) => {
        a.store.claim = async (session) => {
          const stored = await claim(session);
          a.store.claim = claim;
          resolve();
          await new Promise<void>((release) => {
            go = release;
          });
          return stored;
        };
      });
      const check = a.operations.check({ sessionId });
      await claimed;
      await b.operations.step({ sessionId, frame: 1n, target: at(1) });
      const next = a.operations.step({ sessionId, frame: 2n, afterFrame: 1n, target: at(2) });
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      next.then(end, end);
      await settle();
      go();
      while (!isOver) {
        await settle();
        a.clock.advance(1000);
      }
      t.match(await next, { frame: 2n });
      await check;
    },
  );

  t.test('a change that learns late of a move does not touch the session that has come back', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix, 'refuse', 1), await processOf(t, prefix)];
    const { id: sessionId } = await a.operations.createSession(opening());
    const update = a.store.update.bind(a.store);
    let send = () => {};
    const sent = new Promise<void>((resolve) => {
      a.store.update = async (...change) => {
        resolve();
        await new Promise<void>((go) => {
          send = go;
        });
        a.store.update = update;
        return update(...change);
      };
    });
    const change = a.operations.updateSession({ sessionId, label: 'changed' });
    await sent;
    await b.operations.step({ sessionId, frame: 1n, target: at(1) });
    await a.operations.check({ sessionId });
    send();
    let isOver = false;
    void change.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await settle();
      a.clock.advance(1000);
    }
    t.match(await change, { label: 'changed', frame: 1n });
    await a.operations.deleteSession(sessionId);
    t.equal(a.operations.stats().sessions, 0);
    t.ok((await a.operations.createSession(opening())).id, 'its place is free');
  });

  t.test('a check that runs does not hide that another process has gone on', async (t) => {
    const prefix = prefixOf();
    const [a, b] = [await processOf(t, prefix), await processOf(t, prefix)];
    const { id: sessionId } = await a.operations.createSession(opening());
    a.scheduler.holdsChecks = true;
    const first = a.operations.check({ sessionId }).catch(() => {});
    while (a.scheduler.checks.length === 0) await settle();
    const { positions } = await b.operations.step({ sessionId, frame: 1n, target: at(8) });
    t.match(await a.operations.getSession(sessionId), { frame: 1n });
    const second = a.operations.check({ sessionId }).catch(() => {});
    while (a.scheduler.checks.length < 2) await settle();
    t.same(a.scheduler.checks[1]!.request.positions, positions);
    for (const { fail } of a.scheduler.checks) fail(new StoreDown('The test ends.'));
    await Promise.all([first, second]);
  });

  for (const isAtWork of [false, true]) {
    t.test(`a deleted session stays deleted; its owner ${isAtWork ? 'works' : 'ends'}`, async (t) => {
      const prefix = prefixOf();
      const [a, b] = [await processOf(t, prefix, 'continue'), await processOf(t, prefix)];
      const { id: sessionId } = await a.operations.createSession(opening());
      const commit = a.store.commit.bind(a.store);
      a.store.commit = () => Promise.reject(new StoreDown('It is down.'));
      if (isAtWork) a.scheduler.isManual = true;
      const first = a.operations.step({ sessionId, frame: 1n, target: at(1) });
      const second = isAtWork ? refusalOf(a.operations.step({ sessionId, frame: 2n, target: at(2) })) : undefined;
      if (isAtWork) {
        while (a.scheduler.steps.length < 1) await settle();
        a.scheduler.steps[0]!.finish();
        while (a.scheduler.steps.length < 2) await settle();
      }
      t.ok((await first).report.warnings.some(({ code }) => code === 'NOT_STORED'));
      a.store.commit = commit;
      await b.operations.deleteSession(sessionId);
      if (second) {
        a.scheduler.steps[1]!.finish();
        let isOver = false;
        void second.then(() => {
          isOver = true;
        });
        while (!isOver) {
          await settle();
          a.clock.advance(1000);
        }
        t.equal((await second).code, 'SESSION_NOT_FOUND');
      } else {
        await a.operations.close();
        t.notOk(
          a.logged.some(({ message }) => /^A session ends/.test(String(message))),
          'and nothing of it is lost',
        );
      }
      t.equal((await refusalOf(b.operations.getSession(sessionId))).code, 'SESSION_NOT_FOUND');
    });
  }
});
