import { IntersticeError } from '../contract/errors.js';
import type { CreateSessionRequest, SessionInfo } from '../contract/sessions.js';
import { hashContent } from '../jobs/content-hash.js';
import { type CreationTerms, isSameCreation } from './payload.js';
import type { Session } from './session.js';
import type { SharedWork } from './shared-work.js';
import type { CreationCall } from './untangle.js';

/** The creation of a session; its result is described by the store if another process has created it. */
export type CreationWork = SharedWork<Session | SessionInfo, CreationCall>;

/** A session that is being created under an idempotency key. */
export interface KeyedCreation {
  readonly request: CreateSessionRequest;
  readonly work: CreationWork;
  /** resolves when the work has succeeded or failed */
  readonly ended: Promise<void>;
}

interface Entry {
  /** once the session is open, without mesh and start */
  request: CreationTerms & Partial<CreateSessionRequest>;
  /** sha256 of mesh and start; computed when it is first needed */
  hash: string | undefined;
  readonly work: CreationWork;
  readonly ended: Promise<void>;
  session: Session | undefined;
}

/**
 * The session that an idempotency key of a tenant stands for, from the first request until the session ends. A creation
 * that fails releases its key.
 */
export class IdempotencyKeys {
  private readonly entries = new Map<string, Entry>();
  private readonly nameOf = new Map<Session, string>();

  /**
   * @returns the session, or the creation that still runs; undefined when the key is new
   * @throws INVALID_PARAMETER when the key stands for another payload
   */
  find(tenant: string, request: CreateSessionRequest): Session | CreationWork | undefined {
    const entry = this.entries.get(nameOf(tenant, request.idempotencyKey));
    if (!entry || (!entry.session && entry.work.isAbandoned)) return undefined;
    if (!isSameCreation(entry.request, request) || hashOf(entry) !== hashContent(request.mesh, request.start)) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        'Field idempotencyKey was used for a session with another payload (mesh, start, parameters, label or idle timeout).',
        { hint: 'Send the same request to get that session, or use a new key for a new session.' },
      );
    }
    return entry.session ?? entry.work;
  }

  /** The session or creation of the key, whatever its payload. */
  of(tenant: string, key: string): Pick<Entry, 'session' | 'work' | 'ended'> | undefined {
    return this.entries.get(nameOf(tenant, key));
  }

  /** Whether any key of the tenant stands for a session. */
  has(tenant: string): boolean {
    const start = JSON.stringify([tenant]).slice(0, -1);
    for (const name of this.entries.keys()) if (name.startsWith(`${start},`)) return true;
    return false;
  }

  /** @param creation its request has arrays of its own */
  begin(tenant: string, { request, work, ended }: KeyedCreation): void {
    this.entries.set(nameOf(tenant, request.idempotencyKey), {
      request,
      hash: undefined,
      work,
      ended,
      session: undefined,
    });
  }

  succeed(tenant: string, { request, work }: Omit<KeyedCreation, 'ended'>, session: Session): void {
    const name = nameOf(tenant, request.idempotencyKey);
    const entry = this.entries.get(name);
    // After a creation was abandoned, another one may use the same key.
    if (entry?.work !== work) return;
    // An untangled start differs from the one that the key stands for.
    entry.hash = session.untangled ? hashOf(entry) : session.contentHash;
    const { parameters, label, idleTimeoutSeconds, untangle } = request;
    entry.request = {
      parameters,
      ...(label === undefined ? {} : { label }),
      ...(idleTimeoutSeconds === undefined ? {} : { idleTimeoutSeconds }),
      ...(untangle ? { untangle } : {}),
    };
    entry.session = session;
    this.nameOf.set(session, name);
  }

  /** The creation has failed, or a store keeps its key. */
  release(tenant: string, { request, work }: Omit<KeyedCreation, 'ended'>): void {
    const name = nameOf(tenant, request.idempotencyKey);
    if (this.entries.get(name)?.work === work) this.entries.delete(name);
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

/** JSON separates tenant and key, whatever characters they contain. */
function nameOf(tenant: string, key: string | undefined): string {
  return JSON.stringify([tenant, key]);
}
