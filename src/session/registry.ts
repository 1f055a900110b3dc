import { randomBytes } from 'node:crypto';
import { IntersticeError } from '../contract/errors.js';
import { counted } from '../contract/quote.js';
import {
  KEY_PREFIX,
  type ListSessionsAnswer,
  type ListSessionsRequest,
  type SessionInfo,
} from '../contract/sessions.js';
import { pageOf } from './pages.js';
import type { Session } from './session.js';

/** Limits on all sessions together. */
export interface Quotas {
  readonly maxSessions: number;
  readonly maxSessionsPerTenant: number;
  /** host memory of all sessions; 0 = no limit */
  readonly maxSessionBytes: number;
}

/** A place for a session that is being created. */
export interface Reservation {
  readonly id: string;
  readonly key: number;
  /** The session takes the place. */
  fill(session: Session): void;
  /** Frees the place; does nothing after `fill`. */
  release(): void;
}

/** Seconds. Nobody knows when a session ends, so this only spreads the retries. */
const RETRY_AFTER_SECONDS = 5;

/** All sessions by id and by tenant, the quotas on them, and the pages of a list. */
export class Registry {
  private readonly sessions = new Map<string, Session>();
  /** by tenant, then by order of creation */
  private readonly ofTenant = new Map<string, Map<number, Session>>();
  private readonly reserved = new Map<string, number>();
  private reservedCount = 0;
  private reservedBytes = 0;
  private lastKey = 0;
  /** by tenant, so that a page token does not reveal how many sessions other tenants create */
  private readonly lastOrder = new Map<string, number>();

  constructor(private readonly quotas: Quotas) {}

  get count(): number {
    return this.sessions.size;
  }

  get hostBytes(): number {
    let sum = 0;
    for (const session of this.sessions.values()) sum += session.hostBytes;
    return sum;
  }

  /** Whether all sessions together hold more than they may. */
  get isOverBytes(): boolean {
    const { maxSessionBytes: limit } = this.quotas;
    return limit > 0 && this.hostBytes > limit;
  }

  all(): Iterable<Session> {
    return this.sessions.values();
  }

  /**
   * Takes a place for a session before anything is computed for it.
   *
   * @param bytes of host memory that the session will take
   * @param id of a session that exists elsewhere
   * @throws QUOTA_EXCEEDED, TOO_LARGE, UNIMPLEMENTED
   */
  reserve(tenant: string, bytes: number, id = newId()): Reservation {
    this.refuseOneMore(tenant, bytes);
    this.changeReserved(tenant, 1, bytes);
    let isOpen = true;
    const release = () => {
      if (isOpen) this.changeReserved(tenant, -1, -bytes);
      isOpen = false;
    };
    return {
      id,
      key: ++this.lastKey,
      fill: (session) => {
        release();
        session.order = (this.lastOrder.get(tenant) ?? 0) + 1;
        this.lastOrder.set(tenant, session.order);
        this.sessions.set(session.id, session);
        const own = this.ofTenant.get(tenant) ?? new Map<number, Session>();
        this.ofTenant.set(tenant, own.set(session.order, session));
      },
      release,
    };
  }

  /**
   * Refuses if there is no room for another session; takes no place.
   *
   * @param bytes of host memory that the session will take at least
   * @throws QUOTA_EXCEEDED, TOO_LARGE; UNIMPLEMENTED if there is none even without other sessions
   */
  refuseOneMore(tenant: string, bytes: number): void {
    const { maxSessions, maxSessionsPerTenant } = this.quotas;
    if (maxSessions === 0)
      throw new IntersticeError('UNIMPLEMENTED', 'This service keeps no sessions (INTERSTICE_MAX_SESSIONS is 0).', {
        hint: 'Resolve each step without a session, from the last answer.',
      });
    const own = (this.ofTenant.get(tenant)?.size ?? 0) + (this.reserved.get(tenant) ?? 0);
    if (own >= maxSessionsPerTenant) {
      throw exceeded(`You have ${counted(own, 'session')}, and the limit for one tenant is ${maxSessionsPerTenant}.`);
    }
    if (this.sessions.size + this.reservedCount >= maxSessions) {
      throw exceeded(`This server holds ${counted(maxSessions, 'session')} already, which is its limit.`);
    }
    this.refuseBytes(bytes);
  }

  /**
   * @param growth bytes of host memory on top of those that all sessions hold now
   * @param held bytes of them that the session holds already for which the growth is
   * @throws QUOTA_EXCEEDED with demand and limit; TOO_LARGE if there would be no room without all other sessions
   */
  refuseBytes(growth: number, held = 0): void {
    const { maxSessionBytes: limit } = this.quotas;
    if (limit === 0 || growth <= 0) return;
    const demand = this.hostBytes + this.reservedBytes + growth;
    if (demand <= limit) return;
    if (held + growth > limit) {
      throw new IntersticeError(
        'TOO_LARGE',
        `The ${held > 0 ? 'session would need' : 'request needs'} ${held + growth} bytes, and all sessions together may hold ${limit} (INTERSTICE_MAX_SESSION_BYTES).`,
      );
    }
    throw exceeded(
      `The request needs ${growth} bytes; all sessions together would hold ${demand}, and the limit is ${limit}.`,
    );
  }

  /**
   * The refusal does not reveal whether another tenant has a session of this id.
   *
   * @throws SESSION_NOT_FOUND
   */
  find(id: string, tenant: string): Session {
    return this.peek(id, tenant) ?? refuseUnknown(id);
  }

  peek(id: string, tenant: string): Session | undefined {
    const session = this.sessions.get(id);
    return session?.tenant === tenant ? session : undefined;
  }

  /** @returns false when the session was removed earlier; the id may then be that of a session that was loaded since */
  remove(session: Session): boolean {
    if (this.sessions.get(session.id) !== session) return false;
    this.sessions.delete(session.id);
    const own = this.ofTenant.get(session.tenant);
    own?.delete(session.order);
    if (own?.size === 0) this.ofTenant.delete(session.tenant);
    session.hasEnded = true;
    return true;
  }

  /** Oldest first. @throws INVALID_PARAMETER */
  list(tenant: string, request: ListSessionsRequest): ListSessionsAnswer {
    const own = [...(this.ofTenant.get(tenant) ?? [])];
    return listPage(
      own.map(([order, session]) => [order, session.describe()]),
      request,
    );
  }

  private changeReserved(tenant: string, count: number, bytes: number): void {
    const own = (this.reserved.get(tenant) ?? 0) + count;
    if (own > 0) this.reserved.set(tenant, own);
    else this.reserved.delete(tenant);
    this.reservedCount += count;
    this.reservedBytes += bytes;
  }
}

/** @param sessions with their orders of creation, ascending @throws INVALID_PARAMETER */
export function listPage(
  sessions: readonly (readonly [order: number, info: SessionInfo])[],
  request: ListSessionsRequest,
): ListSessionsAnswer {
  const { page, nextPageToken } = pageOf(sessions, request, 'ListSessions');
  // An untangled start is as large as its mesh, and there are many sessions on a page.
  return { sessions: page.map(({ untangle: _, ...info }) => info), nextPageToken };
}

/** 128 random bits cannot be guessed. */
function newId(): string {
  return randomBytes(16).toString('hex');
}

/** @throws SESSION_NOT_FOUND */
export function refuseUnknown(id: string): never {
  throw new IntersticeError('SESSION_NOT_FOUND', `There is no session ${quoteId(id)}.`);
}

/** Whether the text can be the id of a session. */
export const isSessionId = (id: string): boolean => /^[0-9a-f]{32}$/.test(id);

function exceeded(message: string): IntersticeError {
  return new IntersticeError('QUOTA_EXCEEDED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Callers send any text as an id, or as the key of a creation: messages repeat only a well-formed id. */
function quoteId(id: string): string {
  if (id.startsWith(KEY_PREFIX)) return 'with this idempotency key';
  return isSessionId(id) ? id : 'with this id; ids are 32 hexadecimal digits';
}
