import type { Config } from '../config/config.js';
import type { Logger } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import type { SessionStore } from '../store/session-store.js';
import type { ServiceState } from '../transport/service-state.js';

/**
 * Readiness, metrics and log show the state of the store. While it is down and sessions are refused, this server is not
 * ready, so that a proxy sends sessions to servers that can reach it.
 *
 * @returns stops that
 */
export function followStore(
  store: Pick<SessionStore, 'health' | 'durability' | 'watch'>,
  { store: settings }: Config,
  { state, metrics, log }: { readonly state: ServiceState; readonly metrics: Metrics; readonly log: Logger },
): () => void {
  const event = 'store';
  log.info({ event, onFailure: settings?.onFailure }, store.durability);
  metrics.watchStore(() => store.health.isUp);
  return store.watch((change) => {
    if (change.type === 'call') return metrics.countStoreCall(change);
    const { isUp, reason } = change;
    if (isUp) log.info({ event }, reason);
    else log.error({ event }, reason);
    if (settings?.onFailure === 'refuse') state.hinder(isUp ? undefined : reason);
  });
}
