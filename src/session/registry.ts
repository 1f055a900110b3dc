import { randomBytes } from 'node:crypto';
import { IntersticeError } from '../contract/errors.js';
import type { ListSessionsAnswer, ListSessionsRequest } from '../contract/sessions.js';
import type { Session } from './session.js';

/** Bounds on what all sessions together may take; 0 bytes = no bound. */
export interface Quotas {
  readonly maxSessions: number;
  readonly maxSessionsPerTenant: number;
  /** host memory of all sessions */
  readonly maxSessionBytes: number;
}

/** A place for a session that is being opened. */
export interface Reservation {
  readonly id: string;
  readonly key: number;
  /** the session takes its place */
  fill(session: Session): void;
  /** the place is free again; nothing after `fill` */
  release(): void;
}

export const PAGE_SIZE = { default: 50, most: 500 } as const;

/** Seconds: sessions end at no known time, so this only spreads retries. */
const RETRY_AFTER_SECONDS = 5;

/** All sessions, by id and by tenant; who may have another; pages of a list. */
export class Registry {
  private readonly sessions = new Map<string, Session>();
  /** per tenant by their order, which is that of their being opened */
  private readonly ofTenant = new Map<string, Map<number, Session>>();
  private readonly reserved = new Map<string, number>();
  private reservedCount = 0;
  private reservedBytes = 0;
  private keysGiven = 0;
  /** per tenant, so that a page token tells nobody how many sessions others open */
  private readonly ordersGiven = new Map<string, number>();

  constructor(private readonly quotas: Quotas) {}

  get count(): number {
    return this.sessions.size;
  }

  get hostBytes(): number {
    let sum = 0;
    for (const session of this.sessions.values()) sum += session.hostBytes;
    return sum;
  }

  all(): Iterable<Session> {
    return this.sessions.values();
  }

  /**
   * Takes a place, before anything is computed for it.
   *
   * @param bytes of host memory that the session will take
   * @throws QUOTA_EXCEEDED
   */
  reserve(tenant: string, bytes: number): Reservation {
    this.refuseOneMore(tenant, bytes);
    this.book(tenant, 1, bytes);
    let isOpen = true;
    const release = () => {
      if (isOpen) this.book(tenant, -1, -bytes);
      isOpen = false;
    };
    return {
      // 128 random bits: nobody guesses another's
      id: randomBytes(16).toString('hex'),
      key: ++this.keysGiven,
      fill: (session) => {
        release();
        session.order = (this.ordersGiven.get(tenant) ?? 0) + 1;
        this.ordersGiven.set(tenant, session.order);
        this.sessions.set(session.id, session);
        const own = this.ofTenant.get(tenant) ?? new Map<number, Session>();
        this.ofTenant.set(tenant, own.set(session.order, session));
      },
      release,
    };
  }

  /**
   * Whether there is room for another session, without taking it.
   *
   * @param bytes of host memory that it will take at least
   * @throws QUOTA_EXCEEDED
   */
  refuseOneMore(tenant: string, bytes: number): void {
    const { maxSessions, maxSessionsPerTenant } = this.quotas;
    const own = (this.ofTenant.get(tenant)?.size ?? 0) + (this.reserved.get(tenant) ?? 0);
    if (own >= maxSessionsPerTenant) {
      throw exceeded(`you have ${own} sessions, and the limit for one tenant is ${maxSessionsPerTenant}`);
    }
    if (this.sessions.size + this.reservedCount >= maxSessions) {
      throw exceeded(`this server holds as many sessions as it may, ${maxSessions}`);
    }
    this.refuseBytes(bytes);
  }

  /**
   * @param growth bytes of host memory to come on top of what is held
   * @throws QUOTA_EXCEEDED with the demand
   */
  refuseBytes(growth: number): void {
    const { maxSessionBytes: most } = this.quotas;
    if (most === 0 || growth <= 0) return;
    const demand = this.hostBytes + this.reservedBytes + growth;
    if (demand <= most) return;
    throw exceeded(`this needs ${growth} bytes; all sessions together would hold ${demand}, and the limit is ${most}`);
  }

  /**
   * The same answer, by the same way, for an id that another tenant has and for one that nobody has.
   *
   * @throws SESSION_NOT_FOUND
   */
  find(id: string, tenant: string): Session {
    const session = this.sessions.get(id);
    if (session?.tenant === tenant) return session;
    throw new IntersticeError('SESSION_NOT_FOUND', `there is no session ${quoteId(id)}`);
  }

  /** @returns false when it was gone already */
  remove(session: Session): boolean {
    if (!this.sessions.delete(session.id)) return false;
    const own = this.ofTenant.get(session.tenant);
    own?.delete(session.order);
    if (own?.size === 0) this.ofTenant.delete(session.tenant);
    session.isGone = true;
    return true;
  }

  /**
   * Oldest first. A page goes on after the last session of the one before, so that sessions that come and go in between
   * neither repeat nor hide another.
   *
   * @throws INVALID_PARAMETER
   */
  list(tenant: string, { pageSize, pageToken, label }: ListSessionsRequest): ListSessionsAnswer {
    const size = readPageSize(pageSize);
    const after = readToken(pageToken);
    const page: Session[] = [];
    let hasMore = false;
    for (const [order, session] of this.ofTenant.get(tenant) ?? []) {
      if (order <= after || (label !== undefined && label !== '' && session.label !== label)) continue;
      hasMore = page.length === size;
      if (hasMore) break;
      page.push(session);
    }
    return {
      sessions: page.map((session) => session.describe()),
      nextPageToken: hasMore ? writeToken(page.at(-1)!.order) : '',
    };
  }

  private book(tenant: string, count: number, bytes: number): void {
    const own = (this.reserved.get(tenant) ?? 0) + count;
    if (own > 0) this.reserved.set(tenant, own);
    else this.reserved.delete(tenant);
    this.reservedCount += count;
    this.reservedBytes += bytes;
  }
}

function exceeded(message: string): IntersticeError {
  return new IntersticeError('QUOTA_EXCEEDED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** An id is the caller's text: what is no id is not repeated at length. */
function quoteId(id: string): string {
  return /^[0-9a-f]{32}$/.test(id) ? id : 'of that id; ids are 32 hexadecimal digits';
}

/** Unset is 0 on one of the transports. */
function readPageSize(pageSize = 0): number {
  if (pageSize === 0) return PAGE_SIZE.default;
  if (Number.isInteger(pageSize) && pageSize > 0 && pageSize <= PAGE_SIZE.most) return pageSize;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `pageSize is ${pageSize}; it must be a whole number from 1 to ${PAGE_SIZE.most}, or unset for ${PAGE_SIZE.default}`,
  );
}

const TOKEN = /^after:(\d{1,15})$/;

function writeToken(order: number): string {
  return Buffer.from(`after:${order}`).toString('base64url');
}

function readToken(token = ''): number {
  if (token === '') return 0;
  const order = TOKEN.exec(Buffer.from(token, 'base64url').toString('latin1'))?.[1];
  if (order !== undefined && writeToken(Number(order)) === token) return Number(order);
  throw new IntersticeError('INVALID_PARAMETER', 'pageToken is none that a list of sessions has given', {
    hint: 'Send nextPageToken of the page before as it is, or leave it unset for the first page.',
  });
}
