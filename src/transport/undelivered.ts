import type { CallContext } from '../contract/call-context.js';
import type { AnswerOf, OperationName, Operations, RequestOf } from '../contract/operations.js';
import type { CreateSessionRequest, SessionInfo } from '../contract/sessions.js';

/**
 * Deletes a session of which its caller can no longer learn: the caller disconnects before the answer of the creation is
 * complete. Without an idempotency key nothing leads back to that session; it would keep a place of its tenant's quota until
 * its idle timeout, or for ever with a timeout of 0. A creation that still runs then is cancelled by the operation itself.
 *
 * @param context of a call whose signal is aborted if the caller disconnects before the answer is complete, and never later
 */
export function takeBackIfUndelivered<K extends OperationName>(
  operations: Operations,
  name: K,
  input: RequestOf<K>,
  answer: AnswerOf<K>,
  { signal, caller, requestId }: CallContext,
): void {
  if (name !== 'createSession' || !signal || (input as CreateSessionRequest).idempotencyKey) return;
  const { id } = answer as SessionInfo;
  const takeBack = (): void => {
    // It may have ended meanwhile; a store that is down keeps it until its idle timeout.
    operations
      .deleteSession(id, { ...(caller ? { caller } : {}), ...(requestId ? { requestId } : {}) })
      .catch(() => {});
  };
  if (signal.aborted) takeBack();
  else signal.addEventListener('abort', takeBack, { once: true });
}
