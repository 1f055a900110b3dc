import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { checkDurability, type Durability, warnOfEviction } from './durability.js';
import { MIN_BYTES_PER_MS } from './large-transfers.js';
import type { RedisOptions, Reply } from './redis-client.js';
import { RedisLink } from './redis-link.js';
import {
  CHECKPOINT,
  CLAIM,
  COMMIT,
  CREATE,
  LIST,
  PUT_MESH,
  READ,
  REMOVE,
  REPLACE,
  type Script,
  TOUCHED,
  UPDATE,
} from './redis-scripts.js';
import {
  type Base,
  type CreateVerdict,
  type DescribedSession,
  type FrameCommit,
  type KeyedSession,
  type ListedSession,
  type MeshReference,
  type NewStoredSession,
  type SessionName,
  type SessionRef,
  type SessionStore,
  StoreDown,
  type StoredCheckpoint,
  type StoredFields,
  type StoredPosition,
  type StoredSession,
  type StoreEvent,
  type StoreHealth,
  type WholeSession,
  type WriteVerdict,
} from './session-store.js';

/** Frames logged without a checkpoint; beyond it only the last entry is kept, and no exact rebuild is possible. */
const MAX_LOG_ENTRIES = 64;
/**
 * A frame of this size or more is sent like other large values: on the connection of the small ones it would hold them up, and
 * be late within a time limit that does not grow.
 */
const LARGE_FRAME_BYTES = 2 ** 20;
/** ms that a claimed session lives at least, besides the time that reading it may take: its process then renews that */
const LEAST_LEFT_MS = 60_000;

export interface RedisStoreOptions extends RedisOptions {
  readonly durability: Durability;
  /** the owner of a session as the store names it to operators; default: host name and process id */
  readonly owner?: string;
}

const THIS_PROCESS = `${os.hostname()}:${process.pid}`;

/** Sessions in one Redis or Valkey server, with or without replicas; no cluster, as scripts use several slots. */
export class RedisStore implements SessionStore {
  private current = '';

  private constructor(
    private readonly link: RedisLink,
    private readonly prefix: string,
    private readonly owner: string,
    readonly durability: string,
    readonly warning: string | undefined,
  ) {}

  /** @throws INVALID_PARAMETER if the store cannot be reached, or keeps less than required */
  static async open(options: RedisStoreOptions): Promise<RedisStore> {
    const link = await RedisLink.open(options);
    try {
      const store = new RedisStore(
        link,
        options.prefix,
        options.owner ?? THIS_PROCESS,
        await checkDurability(link, options.durability),
        await warnOfEviction(link),
      );
      await store.readGeneration();
      return store;
    } catch (thrown) {
      await link.close();
      throw thrown;
    }
  }

  get generation(): string {
    return this.current;
  }

  get health(): StoreHealth {
    return this.link.health;
  }

  watch(listener: (event: StoreEvent) => void): () => void {
    return this.link.watch(listener);
  }

  async create(session: NewStoredSession): Promise<CreateVerdict> {
    const { ttlMs, quotas, key, meshHash, opening, settings, info } = session;
    const head = [
      ttlMs,
      quotas.maxSessions,
      quotas.maxSessionsPerTenant,
      key ? nameOf(key.name) : '',
      key?.digest ?? '',
    ];
    const args = [...head.map(String), meshHash, opening, settings, info, this.owner];
    const run = async () => (await this.run(CREATE, session, args)) as readonly Reply[];
    await this.readGeneration();
    let reply = await run();
    if (textOf(reply[0]) === 'mesh') {
      await this.putMesh(session, session);
      reply = await run();
    }
    const [kind, first, second] = reply;
    switch (textOf(kind)) {
      case 'created':
        return { kind: 'created', order: Number(first) };
      case 'exists':
        return { kind: 'exists', known: { id: textOf(first), digest: textOf(second) } };
      case 'full':
        return { kind: 'full', of: textOf(first) === 'tenant' ? 'tenant' : 'all', count: Number(second) };
      default:
        throw new StoreDown(`The store answered ${textOf(kind)} to a creation.`);
    }
  }

  async peek(name: SessionName): Promise<StoredPosition | undefined> {
    const [reply] = await Promise.all([
      this.link.send('peek', ['HMGET', this.keysOf(name)[0]!, 'epoch', 'frame', 'token']),
      this.readGeneration(),
    ]);
    const [epoch, frame, token] = reply as readonly Reply[];
    return epoch === null
      ? undefined
      : { epoch: Number(textOf(epoch)), frame: BigInt(textOf(frame)), token: textOf(token) };
  }

  async describe(name: SessionName): Promise<DescribedSession | undefined> {
    const reply = await this.link.send('describe', ['HMGET', this.keysOf(name)[0]!, 'info', 'seen']);
    const [info, seen] = reply as readonly Reply[];
    return info === null ? undefined : { info: info as Buffer, lastUsed: Number(textOf(seen)) };
  }

  async claim(name: SessionName): Promise<StoredSession | undefined> {
    await this.readGeneration();
    const claimed = await this.run(CLAIM, name, [this.owner, String(LEAST_LEFT_MS), String(MIN_BYTES_PER_MS)]);
    if (claimed === null) return undefined;
    const [epoch, bytes] = claimed as readonly Reply[];
    // If another process claims the session before this is read, its epoch fences this process as at any later time.
    const reply = await this.link.transfer(READ, this.keysOf(name), this.argsOf(name), Number(bytes));
    if (reply === null) return undefined;
    const [frame, token, order, base, logged, opening, settings, info, head, checkpoint, mesh, log, key, digest] =
      reply as readonly Reply[];
    if (mesh === null) throw new StoreDown('The store has lost the mesh of a session.');
    return {
      epoch: Number(epoch),
      frame: BigInt(textOf(frame)),
      token: textOf(token),
      order: Number(order),
      base: textOf(base) as Base,
      logged: Number(logged),
      opening: opening as Buffer,
      settings: settings as Buffer,
      info: info as Buffer,
      head: (head as Buffer | null) ?? undefined,
      checkpoint: (checkpoint as Buffer | null) ?? undefined,
      mesh: mesh as Buffer,
      ...(key && digest ? { key: { name: decodeURIComponent(textOf(key)), digest: textOf(digest) } } : {}),
      log: log as readonly Buffer[],
    };
  }

  async commit(commit: FrameCommit): Promise<WriteVerdict> {
    const { ttlMs, epoch, from, frame, token, head, info, entry } = commit;
    const position = [ttlMs, epoch, from, frame].map(String);
    const bytes = head.byteLength + info.byteLength + entry.byteLength;
    const args = [...position, token, String(MAX_LOG_ENTRIES), head, info, entry];
    return textOf(await this.run(COMMIT, commit, args, bytes < LARGE_FRAME_BYTES ? 0 : bytes)) as WriteVerdict;
  }

  async checkpoint(checkpoint: StoredCheckpoint): Promise<WriteVerdict> {
    const { epoch, logged, bytes } = checkpoint;
    // Replicas need not have it: those without it have the entries that it replaces.
    const args = [...this.argsOf(checkpoint), String(epoch), String(logged), bytes];
    return textOf(await this.link.copy(CHECKPOINT, this.keysOf(checkpoint), args, bytes.byteLength)) as WriteVerdict;
  }

  async update(
    session: SessionRef,
    { settings, info }: Pick<StoredFields, 'settings' | 'info'>,
    ttlMs: number,
  ): Promise<WriteVerdict> {
    return this.write(UPDATE, session, [String(ttlMs), String(session.epoch), settings, info]);
  }

  async touch(session: SessionRef, ttlMs: number): Promise<WriteVerdict> {
    return this.write(TOUCHED, session, [String(ttlMs), String(session.epoch)]);
  }

  async replace(session: WholeSession): Promise<WriteVerdict> {
    const { ttlMs, epoch, frame, token, order, base, meshHash, opening, settings, info, head, checkpoint } = session;
    const { logged, key } = session;
    const position = [ttlMs, epoch, frame, token, order, base, meshHash].map(String);
    const end = [this.owner, String(logged), key ? nameOf(key.name) : '', key?.digest ?? ''];
    const args = [...position, opening, settings, info, head ?? '', checkpoint ?? '', ...end];
    const bytes = args.reduce((sum, { length }) => sum + length, 0);
    const run = async () => textOf(await this.run(REPLACE, session, args, bytes));
    let reply = await run();
    if (reply === 'mesh') {
      await this.putMesh(session, session);
      reply = await run();
    }
    if (reply === 'mesh') throw new StoreDown('The store has lost the mesh of a session.');
    return reply as WriteVerdict;
  }

  async remove(name: SessionName, epoch?: number): Promise<boolean> {
    return (await this.run(REMOVE, name, [epoch === undefined ? '' : String(epoch)])) === 1;
  }

  async list(tenant: string): Promise<readonly ListedSession[]> {
    const reply = (await this.run(LIST, { tenant, id: '' }, [])) as readonly (readonly Reply[])[];
    return reply.map(([id, order, info, seen]) => ({
      id: textOf(id),
      order: Number(order),
      info: info as Buffer,
      lastUsed: Number(textOf(seen)),
    }));
  }

  async findKey(tenant: string, key: string): Promise<KeyedSession | undefined> {
    const name = `${this.prefix}:key:${nameOf(tenant)}:${nameOf(key)}`;
    const [id, digest] = (await this.link.send('findKey', ['HMGET', name, 'id', 'digest'])) as readonly Reply[];
    return id === null ? undefined : { id: textOf(id), digest: textOf(digest) };
  }

  async close(): Promise<void> {
    await this.link.close();
  }

  /** Before the session that uses it: what is written later on any connection reaches replicas later. */
  private async putMesh(name: SessionName, { meshHash, mesh }: MeshReference): Promise<void> {
    const bytes = mesh();
    const args = [...this.argsOf(name), meshHash, bytes];
    await this.link.transfer(PUT_MESH, this.keysOf(name), args, bytes.byteLength);
  }

  private async readGeneration(): Promise<void> {
    const key = `${this.prefix}:generation`;
    let reply = await this.link.send('generation', ['GET', key]);
    if (reply === null) {
      await this.link.send('generation', ['SET', key, randomBytes(8).toString('hex'), 'NX']);
      reply = await this.link.send('generation', ['GET', key]);
    }
    this.current = textOf(reply);
  }

  private async write(
    script: Script,
    name: SessionName,
    args: readonly (string | Uint8Array)[],
  ): Promise<WriteVerdict> {
    return textOf(await this.run(script, name, args)) as WriteVerdict;
  }

  private run(script: Script, name: SessionName, args: readonly (string | Uint8Array)[], bytes = 0): Promise<Reply> {
    return this.link.run(script, this.keysOf(name), [...this.argsOf(name), ...args], bytes);
  }

  /** The first ARGV of every script. */
  private argsOf({ tenant, id }: SessionName): readonly string[] {
    return [this.prefix, nameOf(tenant), id];
  }

  /** KEYS of every script. */
  private keysOf({ tenant, id }: SessionName): readonly string[] {
    const { prefix } = this;
    const t = nameOf(tenant);
    return [
      `${prefix}:session:${t}:${id}`,
      `${prefix}:log:${t}:${id}`,
      `${prefix}:live`,
      `${prefix}:live:${t}`,
      `${prefix}:order:${t}`,
    ];
  }
}

/** Without the colon that separates the parts of a key. */
const nameOf = (text: string): string => encodeURIComponent(text);

const textOf = (reply: Reply | undefined): string => (reply === null || reply === undefined ? '' : String(reply));
