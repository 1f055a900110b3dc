import t from 'tap';
import type { SessionKeeper } from '../../src/session/keeper.js';
import type { Registry } from '../../src/session/registry.js';
import type { Session } from '../../src/session/session.js';
import { SessionFinder } from '../../src/session/session-finder.js';
import { SessionMoved } from '../../src/session/session-moved.js';
import { FakeClock, settle } from './fake-scheduler.js';

const ID = '0'.repeat(32);

t.test('a call whose session has just been dropped to make room gets it from the store', async (t) => {
  const session = { workCount: 0, hasEnded: false } as Session;
  const loaded = { workCount: 0, hasEnded: false } as Session;
  const registry = { peek: () => (session.hasEnded ? undefined : session) } as unknown as Registry;
  let confirm = () => {};
  const keeper = {
    confirm: () =>
      new Promise<void>((resolve) => {
        confirm = resolve;
      }),
  } as unknown as SessionKeeper;
  const clock = Object.assign(new FakeClock(), {
    after: (_ms: number, callback: () => void) => {
      callback();
      return () => {};
    },
  });
  const hooks = { load: async () => loaded, hasSteps: () => false, drop: () => {} };
  const finder = new SessionFinder(registry, keeper, clock, hooks);
  const used: Session[] = [];
  const call = finder.use(ID, 'tenant', (one) => used.push(one));
  confirm();
  // Both replies of the store may arrive together: the session is dropped after the query and before the call goes on.
  await Promise.resolve();
  await Promise.resolve();
  session.hasEnded = true;
  await call;
  t.equal(used.length, 1);
  t.equal(used[0], loaded);
});

t.test('calls whose session moves keep their order, and calls that arrive meanwhile come after them', async (t) => {
  const registry = { peek: () => undefined } as unknown as Registry;
  const clock = new FakeClock();
  const hooks = { load: async () => ({}) as Session, hasSteps: () => false, drop: () => {} };
  const finder = new SessionFinder(registry, {} as SessionKeeper, clock, hooks);
  const order: number[] = [];
  const names = [0, 1, 2, 3, 4, 5, 6, 7];
  const calls = names.map((name) => {
    let moves = 0;
    return finder.use(ID, 'tenant', async () => {
      // The longer a step has worked, the longer it may wait.
      clock.jump(100);
      if (moves++ === 0) throw new SessionMoved('it has moved');
      order.push(name);
    });
  });
  await settle();
  const late = finder.use(ID, 'tenant', () => order.push(8));
  const all = Promise.all([...calls, late]);
  for (let k = 0; k < 20; k++) {
    await settle();
    clock.advance(5000);
  }
  await all;
  t.same(order, [...names, 8]);
});
