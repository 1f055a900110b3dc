import { IntersticeError } from '../contract/errors.js';
import type { CreateSessionRequest } from '../contract/sessions.js';
import { hashContent } from '../jobs/content-hash.js';
import { isSameOpening, type OpeningTerms } from './payload.js';
import type { Session } from './session.js';
import type { SharedCall } from './shared-call.js';

/** A session that was asked for under an idempotency key. */
export interface Creation {
  readonly request: CreateSessionRequest;
  /** while it is being opened */
  readonly shared: SharedCall<Session>;
}

interface Entry {
  /** without mesh and start once it is open */
  request: OpeningTerms & Partial<CreateSessionRequest>;
  /** sha256 of mesh and start; worked out when it is first needed */
  hash: string | undefined;
  shared: SharedCall<Session>;
  session: Session | undefined;
}

/**
 * Which session an idempotency key stands for, per tenant: from the first request on for as long as its session lives. A
 * creation that fails gives its key back.
 */
export class Creations {
  private readonly entries = new Map<string, Entry>();
  private readonly nameOf = new Map<Session, string>();

  /**
   * @returns the session, or the creation under way; undefined when the key is new
   * @throws INVALID_PARAMETER when the key stands for another payload
   */
  find(tenant: string, request: CreateSessionRequest): Session | SharedCall<Session> | undefined {
    const entry = this.entries.get(nameOf(tenant, request));
    if (!entry || (!entry.session && entry.shared.isAbandoned)) return undefined;
    if (!isSameOpening(entry.request, request) || hashOf(entry) !== hashContent(request.mesh, request.start)) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        'idempotencyKey was used for a session with another payload (mesh, start, parameters, label or idle timeout)',
        { hint: 'Send the very same request to get that session, or a new key for another one.' },
      );
    }
    return entry.session ?? entry.shared;
  }

  /** Whether the tenant has a key that stands for a session. */
  has(tenant: string): boolean {
    const start = JSON.stringify([tenant]).slice(0, -1);
    for (const name of this.entries.keys()) if (name.startsWith(`${start},`)) return true;
    return false;
  }

  /** @param request with arrays of its own */
  begin(tenant: string, { request, shared }: Creation): void {
    this.entries.set(nameOf(tenant, request), { request, hash: undefined, shared, session: undefined });
  }

  succeed(tenant: string, request: CreateSessionRequest, session: Session): void {
    const name = nameOf(tenant, request);
    const entry = this.entries.get(name);
    if (!entry) return;
    const { parameters, label, idleTimeoutSeconds } = request;
    entry.request = { parameters, ...dropUnset({ label, idleTimeoutSeconds }) };
    entry.hash = session.contentHash;
    entry.session = session;
    this.nameOf.set(session, name);
  }

  fail(tenant: string, { request, shared }: Creation): void {
    const name = nameOf(tenant, request);
    // A creation that was abandoned may have been followed by another under the same key.
    if (this.entries.get(name)?.shared === shared) this.entries.delete(name);
  }

  forget(session: Session): void {
    const name = this.nameOf.get(session);
    if (name === undefined) return;
    this.nameOf.delete(session);
    this.entries.delete(name);
  }
}

function hashOf(entry: Entry): string {
  const { mesh, start } = entry.request;
  entry.hash ??= hashContent(mesh!, start!);
  return entry.hash;
}

/** JSON keeps the two apart whatever they contain. */
function nameOf(tenant: string, { idempotencyKey }: CreateSessionRequest): string {
  return JSON.stringify([tenant, idempotencyKey]);
}

function dropUnset<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as never;
}
