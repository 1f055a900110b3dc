import { IntersticeError } from '../contract/errors.js';
import { counted } from '../contract/quote.js';
import type { CreateSessionRequest } from '../contract/sessions.js';
import { hashContent } from '../jobs/content-hash.js';
import type { KeyedSession, SessionStore } from '../store/session-store.js';
import type { SessionClock } from './call.js';
import { ask, hashMesh, infoOf, nameOf, ttlOf } from './kept-records.js';
import { keptState } from './kept-state.js';
import { digestOfCreation } from './payload.js';
import type { Quotas } from './registry.js';
import type { Session } from './session.js';
import { pack } from './stored-session.js';

/** Seconds. Nobody knows when a session ends, so this only spreads the retries. */
const RETRY_AFTER_SECONDS = 5;

export interface CreationOptions {
  readonly store: SessionStore;
  readonly quotas: Quotas;
  /** as in OpeningRecord */
  readonly by: string;
  readonly clock: SessionClock;
}

/** Creation of sessions in the store: quotas and idempotency keys apply to all processes together. */
export class KeptCreation {
  constructor(private readonly options: CreationOptions) {}

  /** The session of an idempotency key, of any process. @throws STORE_UNAVAILABLE */
  findKey(tenant: string, key: string): Promise<KeyedSession | undefined> {
    return ask(() => this.options.store.findKey(tenant, key));
  }

  /**
   * Stores a new session.
   *
   * @returns the session that another process has created meanwhile under the same idempotency key; undefined = there is none
   * @throws QUOTA_EXCEEDED, STORE_UNAVAILABLE
   */
  async create(session: Session, request: CreateSessionRequest): Promise<string | undefined> {
    const { store, quotas, clock, by } = this.options;
    const { mesh, start, idempotencyKey } = request;
    const meshHash = hashMesh(mesh);
    const key = idempotencyKey
      ? { name: idempotencyKey, digest: digestOfCreation(request, hashContent(mesh, start)) }
      : undefined;
    const verdict = await ask(() =>
      store.create({
        ...nameOf(session),
        ttlMs: ttlOf(session),
        quotas,
        meshHash,
        mesh: () => pack(mesh),
        opening: pack(session.openingRecord(by)),
        settings: pack(session.settings),
        info: pack(infoOf(session)),
        ...(key ? { key } : {}),
      }),
    );
    if (verdict.kind === 'full') {
      const whose = verdict.of === 'tenant' ? 'You have' : 'All servers together hold';
      throw new IntersticeError(
        'QUOTA_EXCEEDED',
        `${whose} ${counted(verdict.count, 'session')}, which is the limit.`,
        {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        },
      );
    }
    if (verdict.kind === 'exists') {
      this.refuseOtherPayload(verdict.known, request);
      return verdict.known.id;
    }
    const { generation } = store;
    const touchedAt = clock.monotonicMs();
    const { order } = verdict;
    session.kept = keptState({ epoch: 1, order, meshHash, key, generation, token: '', logged: 0, touchedAt });
    return undefined;
  }

  /** @throws INVALID_PARAMETER if the key stands for another payload */
  refuseOtherPayload(known: KeyedSession, request: CreateSessionRequest): void {
    if (known.digest === digestOfCreation(request, hashContent(request.mesh, request.start))) return;
    throw new IntersticeError(
      'INVALID_PARAMETER',
      'Field idempotencyKey was used for a session with another payload (mesh, start, parameters, label or idle timeout).',
      { hint: 'Send the same request to get that session, or use a new key for a new session.' },
    );
  }
}
