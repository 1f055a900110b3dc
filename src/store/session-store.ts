/**
 * A store outside the processes. It holds the authoritative state of every session, so that a session outlives its
 * process and any process may continue it. It knows names, numbers and opaque bytes; src/session defines what the bytes
 * mean (stored-session.ts).
 *
 * **Who may write.** A session has an epoch, an integer that grows with every {@link SessionStore.claim}. Only the
 * process that created the current epoch may write; writes of an earlier epoch change nothing and return `fenced`. A
 * frame is written with its predecessor: it takes effect only if that is the stored frame. Both comparisons and the
 * write are one atomic operation of the store, so if two processes compute a frame at the same time, exactly one is
 * accepted.
 */
export interface SessionStore {
  /**
   * Writes a new session at frame 0 under epoch 1, if the quotas leave room.
   *
   * @throws StoreDown
   */
  create(session: NewStoredSession): Promise<CreateVerdict>;
  /** The stored position, checked before a process trusts its memory; undefined = no such session. @throws StoreDown */
  peek(name: SessionName): Promise<StoredPosition | undefined>;
  /**
   * Changes when the store has lost everything: its data were deleted, or it started without them. As of the last
   * {@link create}, {@link claim} or {@link peek}; if the store loses everything during one of the first two, the one
   * before that.
   */
  readonly generation: string;
  /** A session as its owner sees it, without taking it over. @throws StoreDown */
  describe(name: SessionName): Promise<DescribedSession | undefined>;
  /** Takes the session over: raises the epoch, so that no other process can write to it. @throws StoreDown */
  claim(name: SessionName): Promise<StoredSession | undefined>;
  /** Accepts a frame if the session is still as this process expects it. @throws StoreDown */
  commit(commit: FrameCommit): Promise<WriteVerdict>;
  /** Writes a scene to continue from, and drops the log entries that it covers. @throws StoreDown */
  checkpoint(checkpoint: StoredCheckpoint): Promise<WriteVerdict>;
  /** Replaces the settings and the time to live of a session. @throws StoreDown */
  update(session: SessionRef, fields: Pick<StoredFields, 'settings' | 'info'>, ttlMs: number): Promise<WriteVerdict>;
  /**
   * Overwrites a session if the stored one has no later epoch and no later frame: for a session whose frames the store
   * has lost although this process had accepted them. @throws StoreDown
   */
  replace(session: WholeSession): Promise<WriteVerdict>;
  /** Restarts the time to live. @throws StoreDown */
  touch(session: SessionRef, ttlMs: number): Promise<WriteVerdict>;
  /** @param epoch if set, only a session of this epoch is removed. @returns whether there was one @throws StoreDown */
  remove(name: SessionName, epoch?: number): Promise<boolean>;
  /** The sessions of a tenant, in the order of creation: order and {@link StoredFields.info}. @throws StoreDown */
  list(tenant: string): Promise<readonly ListedSession[]>;
  /** The session that an idempotency key of a tenant stands for. @throws StoreDown */
  findKey(tenant: string, key: string): Promise<KeyedSession | undefined>;
  readonly health: StoreHealth;
  /** Calls back at every event. @returns a function that stops this */
  watch(listener: (event: StoreEvent) => void): () => void;
  /** Text for the log: what a loss of the store costs. */
  readonly durability: string;
  /** Text for the log: a setting of the store with which it may lose sessions while it runs; undefined = none is known. */
  readonly warning?: string | undefined;
  close(): Promise<void>;
}

/** Sessions of different tenants are separate, even if their ids are equal. */
export interface SessionName {
  readonly tenant: string;
  readonly id: string;
}

export interface SessionRef extends SessionName {
  /** under which this process holds the session */
  readonly epoch: number;
}

export interface StoredPosition {
  readonly epoch: number;
  readonly frame: bigint;
  /** distinguishes commits of one frame; empty before the first */
  readonly token: string;
}

/** The parts of a session, as bytes that src/session has encoded. */
export interface StoredFields {
  /** the creation request and its results */
  readonly opening: Uint8Array;
  /** parameters, label, idle timeout */
  readonly settings: Uint8Array;
  /** as its owner sees it */
  readonly info: Uint8Array;
  /** the last accepted frame; undefined before the first */
  readonly head?: Uint8Array | undefined;
  /** the scene from which the session continues after `base` */
  readonly checkpoint?: Uint8Array | undefined;
}

export interface MeshReference {
  /** of the content: each mesh of a tenant is stored once */
  readonly meshHash: string;
  readonly mesh: () => Uint8Array;
}

export interface NewStoredSession extends SessionName, MeshReference, StoredFields {
  /** 0 = until deleted */
  readonly ttlMs: number;
  readonly quotas: { readonly maxSessions: number; readonly maxSessionsPerTenant: number };
  readonly key?: SessionKey | undefined;
}

/** An idempotency key. */
export interface SessionKey {
  readonly name: string;
  /** of the request that it was used for */
  readonly digest: string;
}

export interface KeyedSession {
  readonly id: string;
  /** of the request that the key was used for */
  readonly digest: string;
}

export type CreateVerdict =
  | { readonly kind: 'created'; readonly order: number }
  /** another process was first to use the idempotency key */
  | { readonly kind: 'exists'; readonly known: KeyedSession }
  | { readonly kind: 'full'; readonly of: 'tenant' | 'all'; readonly count: number };

/** `fenced`: another process has claimed the session or written another frame; `gone`: there is no such session. */
export type WriteVerdict = 'stored' | 'fenced' | 'gone';

export interface FrameCommit extends SessionRef {
  /** the stored frame that this one follows */
  readonly from: bigint;
  readonly frame: bigint;
  /** random: a commit whose answer was lost may be sent again, and is stored only once */
  readonly token: string;
  readonly head: Uint8Array;
  readonly info: Uint8Array;
  /** the input of the frame, to compute it again after the checkpoint */
  readonly entry: Uint8Array;
  readonly ttlMs: number;
}

export interface StoredCheckpoint extends SessionRef {
  readonly frame: bigint;
  readonly bytes: Uint8Array;
  /** number of entries that were logged up to this frame */
  readonly logged: number;
}

export interface WholeSession extends SessionRef, MeshReference, StoredFields {
  /** of its creation; it stays with another session if that has been created under it since */
  readonly key?: SessionKey | undefined;
  readonly frame: bigint;
  readonly token: string;
  readonly order: number;
  readonly base: Base;
  /** number of entries logged so far, more than any checkpoint covers that may still be on its way */
  readonly logged: number;
  readonly ttlMs: number;
}

/**
 * What the log entries continue: the opening, a checkpoint, or nothing because there were too many frames without a
 * checkpoint; then only the last entry exists.
 */
export type Base = 'opening' | 'checkpoint' | 'lost';

export interface StoredSession extends StoredPosition, StoredFields {
  readonly order: number;
  readonly base: Base;
  readonly mesh: Uint8Array;
  /** of its creation */
  readonly key?: SessionKey | undefined;
  /** in the order of their frames */
  readonly log: readonly Uint8Array[];
  /** number of entries logged so far, including dropped ones */
  readonly logged: number;
}

export interface DescribedSession {
  readonly info: Uint8Array;
  /** ms since 1970 */
  readonly lastUsed: number;
}

export interface ListedSession extends DescribedSession {
  readonly id: string;
  readonly order: number;
}

export interface StoreHealth {
  /** whether the last attempt to reach the store succeeded */
  readonly isUp: boolean;
  /** the reason in one sentence, if it did not */
  readonly reason: string;
}

/** Events of the store, for logs and metrics. While it is down, `health` comes again with each new reason. */
export type StoreEvent =
  | { readonly type: 'call'; readonly name: string; readonly seconds: number; readonly failure: string | undefined }
  | { readonly type: 'health'; readonly isUp: boolean; readonly reason: string };

/** For callers, who may be strangers. */
export const STORE_DOWN =
  'The session store does not answer, or does not accept writes. The log of the service says why.';

/**
 * The store did not answer in time, cannot be reached, or refuses to write. The command may have taken effect. The
 * message is for callers; the words of the store and of the system, which may name its host, its user or its settings,
 * are the cause, and are in the {@link StoreEvent}s and in {@link StoreHealth} for the log.
 */
export class StoreDown extends Error {
  override readonly name = 'StoreDown';

  constructor(message: string = STORE_DOWN, options?: ErrorOptions) {
    super(message, options);
  }
}
