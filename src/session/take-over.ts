import { IntersticeError } from '../contract/errors.js';
import type { SessionKeeper } from './keeper.js';
import type { LiveSessions, LiveSessionsOptions } from './live-sessions.js';
import { refuseUnknown } from './registry.js';
import { type RestoreServices, restoreSession } from './restore.js';
import type { Session } from './session.js';
import type { ClaimedSession } from './session-moved.js';

export interface TakeOverServices
  extends Omit<RestoreServices, 'by' | 'onUnreadable'>,
    Pick<LiveSessionsOptions, 'onChange' | 'onBackgroundFailure'> {}

/**
 * Takes a session over from the store: from then on it is in this process.
 *
 * @param known the session, if this process has claimed it already
 * @throws SESSION_NOT_FOUND, STORE_UNAVAILABLE, and the refusals of rebuilding it
 */
export async function takeOver(
  id: string,
  tenant: string,
  live: LiveSessions,
  keeper: SessionKeeper,
  services: TakeOverServices,
  known?: ClaimedSession,
): Promise<Session> {
  const claimed = known ?? (await keeper.claim({ tenant, id }));
  if (!claimed) return refuseUnknown(id);
  const endLoading = keeper.lifetime.beginLoading({ tenant, id }, claimed.stored);
  try {
    return await load(id, tenant, claimed, live, keeper, services);
  } finally {
    endLoading();
  }
}

async function load(
  id: string,
  tenant: string,
  claimed: ClaimedSession,
  live: LiveSessions,
  keeper: SessionKeeper,
  services: TakeOverServices,
): Promise<Session> {
  const { scheduler, onChange, onBackgroundFailure } = services;
  const { stored } = claimed;
  const bytes = stored.mesh.byteLength + 2 * (stored.head?.byteLength ?? stored.opening.byteLength);
  const place = await live.withRoom(() => live.registry.reserve(tenant, bytes, id));
  const { key } = place;
  try {
    const onUnreadable = (err: unknown) =>
      keeper.log({ level: 'error', event: 'store', session: id, err }, 'The scene of a session could not be rebuilt.');
    const restored = await restoreSession(stored, { tenant, id }, key, { ...services, by: keeper.by, onUnreadable });
    if (!restored) return refuseUnknown(id);
    const { session, scene, repeated } = restored;
    keeper.adopt(session, claimed);
    live.residency.refuseAboveLimit(session.deviceBytes);
    live.enter(session, place);
    live.residency.settle();
    keeper.log({ event: 'store', session: id, frame: String(stored.frame), scene, repeated }, 'A session was loaded.');
    onChange(tenant, 'loaded');
    return session;
  } catch (thrown) {
    live.inBackground('forget a session', scheduler.forget(key));
    if (thrown instanceof IntersticeError) throw thrown;
    onBackgroundFailure('load a session', thrown);
    throw thrown;
  } finally {
    place.release();
  }
}
