import type { Config } from '../config/config.js';
import { LineBound } from '../observe/line-bound.js';
import type { Logger } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import { type SessionStore, STORE_DOWN } from '../store/session-store.js';
import type { ServiceState } from '../transport/service-state.js';

/**
 * Readiness, metrics and log show the state of the store. While it is down and sessions are refused, this server is not
 * ready, so that a proxy sends sessions to servers that can reach it. Why the store is down is in the log only.
 *
 * @returns stops that
 */
export function followStore(
  store: Pick<SessionStore, 'health' | 'durability' | 'warning' | 'watch'>,
  { store: settings }: Config,
  { state, metrics, log }: { readonly state: ServiceState; readonly metrics: Metrics; readonly log: Logger },
): () => void {
  const event = 'store';
  log.info({ event, onFailure: settings?.onFailure }, store.durability);
  if (store.warning !== undefined) log.warn({ event }, store.warning);
  metrics.watchStore(() => store.health.isUp);
  const bound = new LineBound((unlogged) => log.warn({ event, unlogged }, 'More calls of the store failed.'));
  const stop = store.watch((change) => {
    if (change.type === 'call') {
      const { name: call, failure } = change;
      metrics.countStoreCall(change);
      if (failure !== undefined && bound.allows(call)) log.warn({ event, call }, failure);
      return;
    }
    const { isUp, reason } = change;
    if (isUp) log.info({ event }, reason);
    else log.error({ event }, reason);
    // Anybody may read it.
    if (settings?.onFailure === 'refuse') state.hinder(isUp ? undefined : STORE_DOWN);
  });
  return () => {
    stop();
    bound.flush();
  };
}
