import t from 'tap';
import type { SessionKeeper } from '../../src/session/keeper.js';
import type { Registry } from '../../src/session/registry.js';
import type { Session } from '../../src/session/session.js';
import { SessionFinder } from '../../src/session/session-finder.js';
import { FakeClock } from './fake-scheduler.js';

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
  const finder = new SessionFinder(registry, keeper, clock, { load: async () => loaded, drop: () => {} });
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
