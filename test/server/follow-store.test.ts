import t from 'tap';
import type { Config } from '../../src/config/config.js';
import { createLogger } from '../../src/observe/log.js';
import { Metrics } from '../../src/observe/metrics.js';
import { followStore } from '../../src/server/follow-store.js';
import type { StoreEvent } from '../../src/store/session-store.js';
import { ServiceState } from '../../src/transport/service-state.js';

/** What Redis and the system say about a store that is gone. */
const WORDS = 'The store failed: connect ECONNREFUSED redis.internal:6379.';

t.test('why the store is down is in the log, and not in what anybody may read', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('warn', { write: (line: string) => void lines.push(JSON.parse(line)) });
  const state = new ServiceState();
  state.move('ready', 'The service is ready.');
  let tell: (event: StoreEvent) => void = () => {};
  const store = {
    health: { isUp: true, reason: 'The store answers.' },
    durability: 'none',
    warning: 'It may remove sessions.',
    watch: (listener: typeof tell) => {
      tell = listener;
      return () => {};
    },
  };
  const config = { store: { onFailure: 'refuse' } } as unknown as Config;
  const stop = followStore(store, config, { state, metrics: new Metrics(), log });
  t.teardown(stop);

  t.match(lines, [{ level: 'warn', event: 'store', msg: 'It may remove sessions.' }], 'a warning about its settings');
  lines.length = 0;

  // One call fails without an outage: nothing else would say why.
  tell({ type: 'call', name: 'claim', seconds: 1, failure: WORDS });
  t.equal(state.phase, 'ready');
  t.match(lines, [{ event: 'store', call: 'claim', msg: WORDS }]);
  tell({ type: 'health', isUp: false, reason: WORDS });
  t.equal(state.phase, 'hindered');
  t.match(state.reason, /session store/);
  t.notMatch(state.reason, /redis|6379|ECONN/);
  t.match(lines[1], { level: 'error', event: 'store', msg: WORDS });
  for (let i = 0; i < 50; i++) tell({ type: 'call', name: 'peek', seconds: 1, failure: WORDS });
  stop();
  t.equal(lines.at(-1)!.msg, 'More calls of the store failed.', 'their lines are bounded');
  tell({ type: 'health', isUp: true, reason: 'The store answers.' });
  t.equal(state.phase, 'ready');
});
