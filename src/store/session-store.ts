/**
 * A store beside the processes: it holds the truth of every session, so that a session outlives its process and any process may go
 * on with it. It knows names, numbers and opaque bytes; what the bytes mean is known to the session room (stored-session.ts).
 *
 * **Who may write.** A session has an epoch, a whole number that grows with every {@link SessionStore.claim}. Only the process
 * that made the present epoch may write; the writes of an earlier one change nothing and answer `fenced`. A frame is written
 * with its predecessor: it takes effect only if the stored frame is that one. Both comparisons and the write are one step of
 * the store, so of two processes that compute a frame at the same time exactly one has it accepted.
 */
export interface SessionStore {
  /**
   * Writes a new session at frame 0 under epoch 1, if the quotas leave room.
   *
   * @throws StoreDown
   */
  create(session: NewStoredSession): Promise<CreateVerdict>;
  /** What a process asks before it trusts what it holds in memory; undefined = there is no such session. @throws StoreDown */
  peek(name: SessionName): Promise<StoredPosition | undefined>;
  /** Changes when the store has lost everything: its data were deleted, or it was started without them. As of the last {@link peek}. */
  readonly generation: string;
  /** A session as its owner sees it, without taking it over. @throws StoreDown */
  describe(name: SessionName): Promise<DescribedSession | undefined>;
  /** Takes the session over: raises the epoch, so that no other process can write any more. @throws StoreDown */
  claim(name: SessionName): Promise<StoredSession | undefined>;
  /** Accepts a frame, if the session still is what this process believes it to be. @throws StoreDown */
  commit(commit: FrameCommit): Promise<WriteVerdict>;
  /** Writes what a scene goes on from, and drops the log entries that it covers. @throws StoreDown */
  checkpoint(checkpoint: StoredCheckpoint): Promise<WriteVerdict>;
  /** Replaces the settings of a session, and its time to live. @throws StoreDown */
  update(session: SessionRef, fields: Pick<StoredFields, 'settings' | 'info'>, ttlMs: number): Promise<WriteVerdict>;
  /**
   * Writes everything over what the store has, if that is of no later epoch and of no later frame: for a session of which the store has lost frames that
   * this process has accepted. @throws StoreDown
   */
  replace(session: WholeSession): Promise<WriteVerdict>;
  /** Starts the time to live again. @throws StoreDown */
  touch(session: SessionRef, ttlMs: number): Promise<WriteVerdict>;
  /** @param epoch if set, only a session of this epoch is removed. @returns whether there was one @throws StoreDown */
  remove(name: SessionName, epoch?: number): Promise<boolean>;
  /** Of a tenant, in the order of creation: order and {@link StoredFields.info}. @throws StoreDown */
  list(tenant: string): Promise<readonly ListedSession[]>;
  /** The session that an idempotency key of a tenant stands for. @throws StoreDown */
  findKey(tenant: string, key: string): Promise<KeyedSession | undefined>;
  readonly health: StoreHealth;
  /** Calls back at every event. @returns stops that */
  watch(listener: (event: StoreEvent) => void): () => void;
  /** In words, for the log: what a loss of the store costs. */
  readonly durability: string;
  close(): Promise<void>;
}

/** Sessions of different tenants are apart, whatever their ids. */
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
  /** tells commits of one frame apart; empty before the first */
  readonly token: string;
}

/** The parts of a session, as bytes that the session room has encoded. */
export interface StoredFields {
  /** what it was created with, and what was found then */
  readonly opening: Uint8Array;
  /** parameters, label, idle timeout */
  readonly settings: Uint8Array;
  /** as its owner sees it */
  readonly info: Uint8Array;
  /** the last accepted frame; undefined before the first */
  readonly head?: Uint8Array | undefined;
  /** what the scene goes on from after `base` */
  readonly checkpoint?: Uint8Array | undefined;
}

interface MeshReference {
  /** of the content: each mesh of a tenant is stored once */
  readonly meshHash: string;
  readonly mesh: () => Uint8Array;
}

export interface NewStoredSession extends SessionName, MeshReference, StoredFields {
  /** 0 = until deleted */
  readonly ttlMs: number;
  readonly quotas: { readonly maxSessions: number; readonly maxSessionsPerTenant: number };
  readonly key?: { readonly name: string; readonly digest: string } | undefined;
}

export interface KeyedSession {
  readonly id: string;
  /** of the request that the key was used for */
  readonly digest: string;
}

export type CreateVerdict =
  | { readonly kind: 'created'; readonly order: number }
  /** another process was first with the same idempotency key */
  | { readonly kind: 'exists'; readonly known: KeyedSession }
  | { readonly kind: 'full'; readonly of: 'tenant' | 'all'; readonly count: number };

/** `fenced`: another process has claimed the session, or has written another frame; `gone`: there is no such session. */
export type WriteVerdict = 'stored' | 'fenced' | 'gone';

export interface FrameCommit extends SessionRef {
  /** the stored frame that this one follows */
  readonly from: bigint;
  readonly frame: bigint;
  /** random: a commit whose answer was lost may be sent again, and is stored once */
  readonly token: string;
  readonly head: Uint8Array;
  readonly info: Uint8Array;
  /** what the frame is computed from, to compute it again after the checkpoint */
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
  readonly frame: bigint;
  readonly token: string;
  readonly order: number;
  readonly base: Base;
  readonly ttlMs: number;
}

/**
 * What the log entries continue: the opening, a checkpoint, or nothing, because too many frames came without a checkpoint; then only
 * the last entry is there.
 */
export type Base = 'opening' | 'checkpoint' | 'lost';

export interface StoredSession extends StoredPosition, StoredFields {
  readonly order: number;
  readonly base: Base;
  readonly mesh: Uint8Array;
  /** in the order of their frames */
  readonly log: readonly Uint8Array[];
  /** number of entries logged so far, dropped ones included */
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
  /** in one sentence, why not */
  readonly reason: string;
}

/** What happens at the store, for logs and metrics. */
export type StoreEvent =
  | { readonly type: 'call'; readonly name: string; readonly seconds: number; readonly isOk: boolean }
  | { readonly type: 'health'; readonly isUp: boolean; readonly reason: string };

/** The store did not answer in time, cannot be reached, or refuses to write. What was asked may have happened or not. */
export class StoreDown extends Error {
  override readonly name = 'StoreDown';
}
