import { ClientOfflineError, ErrorReply } from '@redis/client';
import { IntersticeError } from '../contract/errors.js';
import { Connection } from './connection.js';
import { LargeTransfers, MIN_BYTES_PER_MS } from './large-transfers.js';
import {
  type Argument,
  bytesOf,
  clientFor,
  isMistake,
  NoAnswer,
  type RedisOptions,
  type Reply,
  reasonOf,
  send,
  within,
} from './redis-client.js';
import { PROBE, type Script, shaOf } from './redis-scripts.js';
import { ReplicatedWrites } from './replicated-writes.js';
import { StoreDown, type StoreEvent, type StoreHealth } from './session-store.js';

/** ms between two attempts while the store is down; below, between two checks while it answers */
const PROBE_MS = 250;
const HEARTBEAT_MS = 1000;
/** Transfers at the same time for which callers wait. */
const TRANSFER_CONNECTIONS = 4;

/**
 * Connections to a server: one for small commands and usual frames, one for large values that no caller waits for, some for
 * large values for which a caller waits, and, if replicas are required, some on which writes wait for them. Every command
 * has a time limit. After a failure, except that of a {@link transfer} or a {@link copy}, the link is down: it refuses at
 * once, so that callers do not queue behind a dead server, and repeats a write until one succeeds. A command that the server
 * refuses fails alone if the server accepts that write: the memory of a server may have room for one command and not for
 * another. While the link is up it writes at intervals, so that a lost store is noticed without a request.
 *
 * While it is down it also opens new connections, because the address may lead to another server by now: one that has hung, or
 * has become a replica, keeps its connections open.
 */
export class RedisLink {
  private readonly frames: Connection;
  private readonly replicated: ReplicatedWrites | undefined;
  private readonly transfers: LargeTransfers;
  private readonly copies: LargeTransfers;
  private state: StoreHealth = { isUp: false, reason: 'The store has not been reached yet.' };
  /** what callers are told of it while it is down */
  private told: string | undefined;
  private probing: NodeJS.Timeout | undefined;
  private checking: Promise<void> | undefined;
  /** whether the connection of small commands leads to another server, perhaps, than the others */
  private areOthersStale = false;
  /** those of this outage that have been told, each once */
  private readonly reasons = new Set<string>();
  private hasOpened = false;
  /** the last failure of a connection, the reason why a command or the opening had no answer */
  private failed: Error | undefined;
  private isClosed = false;
  private readonly listeners = new Set<(event: StoreEvent) => void>();

  private constructor(private readonly options: RedisOptions) {
    const isHopeless = (cause: Error) => !this.hasOpened && isMistake(cause);
    const connect = () => {
      const client = clientFor(options, isHopeless);
      // Without a listener an event of this name would end the process.
      client.on('error', (cause: Error) => {
        this.failed = cause;
      });
      return client;
    };
    this.frames = new Connection(connect);
    this.replicated = options.replicas > 0 ? new ReplicatedWrites(connect, options) : undefined;
    const largeOn = (connections: number) =>
      new LargeTransfers(connect, connections, options.timeoutMs, () => this.refuse());
    this.transfers = largeOn(TRANSFER_CONNECTIONS);
    this.copies = largeOn(1);
  }

  /** @throws INVALID_PARAMETER if the store is not reached within its time limit, and at once if waiting cannot help */
  static async open(options: RedisOptions): Promise<RedisLink> {
    let link: RedisLink | undefined;
    try {
      link = new RedisLink(options);
      await within(options.timeoutMs, Promise.all(link.connections.map((connection) => connection.open())));
      await link.probe();
      link.hasOpened = true;
      return link;
    } catch (cause) {
      await link?.close();
      const failed = cause instanceof NoAnswer ? link?.failed : undefined;
      const last = failed ? `; the last connection failed: ${reasonOf(failed)}` : '';
      throw new IntersticeError('INVALID_PARAMETER', `The store cannot be used: ${reasonOf(cause)}${last}.`, {
        cause,
        hint: `Correct INTERSTICE_STORE and the settings beside it, or start the store first.${adviceOn(failed ?? cause)}`,
      });
    }
  }

  get health(): StoreHealth {
    return this.state;
  }

  watch(listener: (event: StoreEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** @param bytes of a large value that it sends, 0 = none @throws StoreDown */
  async run(script: Script, keys: readonly string[], args: readonly Argument[], bytes = 0): Promise<Reply> {
    const { replicated } = this;
    if (script.isWrite && replicated) {
      const once: Send = (command) => replicated.send(command);
      return this.bounded(
        script.name,
        () => evaluate(script, keys, args, once),
        this.options.timeoutMs + bytes / MIN_BYTES_PER_MS,
      );
    }
    if (bytes > 0) return this.transfer(script, keys, args, bytes);
    return this.bounded(script.name, () =>
      evaluate(script, keys, args, (command) => send(this.frames.client, command)),
    );
  }

  /**
   * Runs a script that sends or returns a large value for which a caller waits. Replicas are not waited for.
   *
   * @param bytes of the value
   * @throws StoreDown
   */
  transfer(script: Script, keys: readonly string[], args: readonly Argument[], bytes: number): Promise<Reply> {
    return this.carry(this.transfers, script, keys, args, bytes);
  }

  /** The same for a value that no caller waits for: one at a time, so that it takes no connection from those. */
  copy(script: Script, keys: readonly string[], args: readonly Argument[], bytes: number): Promise<Reply> {
    return this.carry(this.copies, script, keys, args, bytes);
  }

  /** @throws StoreDown */
  async send(name: string, args: readonly string[]): Promise<Reply> {
    return this.bounded(name, () => send(this.frames.client, args));
  }

  /** Sends a query that the server may refuse; the result is then undefined. */
  async tryQuery(args: readonly string[]): Promise<Reply | undefined> {
    return within(this.options.timeoutMs, send(this.frames.client, args)).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.probing);
    for (const one of [...this.connections, this.transfers, this.copies]) one.close();
  }

  private get connections(): readonly Connection[] {
    return [this.frames, ...(this.replicated?.connections ?? [])];
  }

  private async carry(
    way: LargeTransfers,
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    bytes: number,
  ): Promise<Reply> {
    return this.measured(script.name, () =>
      way.run(bytes, (client) => evaluate(script, keys, args, (command) => send(client, command))),
    ).catch((thrown: unknown) => {
      throw thrown instanceof StoreDown ? thrown : new StoreDown(toldOf(thrown), { cause: thrown });
    });
  }

  private async bounded<T>(name: string, work: () => Promise<T>, ms = this.options.timeoutMs): Promise<T> {
    return this.measured(name, () => within(ms, work())).catch((thrown: unknown) => {
      if (thrown instanceof StoreDown) throw thrown;
      if (thrown instanceof ErrorReply) void this.check();
      else this.moveDown(thrown);
      throw new StoreDown(toldOf(thrown), { cause: thrown });
    });
  }

  /** @throws StoreDown at once if the store is down, otherwise what the work throws */
  private async measured<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.refuse();
    const startedAt = performance.now();
    const report = (failed?: string) =>
      this.emit({ type: 'call', name, seconds: (performance.now() - startedAt) / 1000, failure: failed });
    try {
      const result = await work();
      report();
      return result;
    } catch (thrown) {
      report(failure(thrown));
      throw thrown;
    }
  }

  /** @throws StoreDown if the store is down, or was closed */
  private refuse(): void {
    if (this.isClosed) throw new StoreDown('The connections to the store are closed.');
    if (!this.state.isUp) throw new StoreDown(this.told);
  }

  /** Finds out whether the store is up, and does so again later. */
  private check(): Promise<void> {
    this.checking ??= this.attempt()
      .catch((thrown: unknown) => this.moveDown(thrown))
      .finally(() => {
        this.checking = undefined;
      });
    return this.checking;
  }

  private async attempt(): Promise<void> {
    const wasDown = !this.state.isUp;
    try {
      await this.probe();
    } catch (thrown) {
      if (!wasDown) throw thrown;
      await this.renew();
      await this.probe();
    }
  }

  /** @throws the reason why no new connection came about */
  private async renew(): Promise<void> {
    this.failed = undefined;
    try {
      await this.frames.renew(this.options.timeoutMs);
      this.areOthersStale = true;
    } catch (thrown) {
      // A wrong password, for example: the connection is tried again until the time is over.
      throw thrown instanceof NoAnswer && this.failed ? this.failed : thrown;
    }
  }

  /**
   * Tests with a write like those of sessions, because a store that only reads, or runs no scripts, is of no use. While the
   * store is down, replicas must have it, too; whether there are any when a process starts shows the first frame.
   */
  private async probe(): Promise<void> {
    const { prefix, timeoutMs } = this.options;
    const { replicated } = this;
    const probeBy = (once: Send) => within(timeoutMs, evaluate(PROBE, [`${prefix}:probe`, `${prefix}:live`], [], once));
    await probeBy((command) => send(this.frames.client, command));
    if (this.areOthersStale) {
      this.transfers.renew();
      this.copies.renew();
      await Promise.all(replicated?.connections.map((connection) => connection.renew(timeoutMs)) ?? []);
      this.areOthersStale = false;
    }
    if (replicated) {
      await Promise.all(replicated.idle.map((client) => probeBy((command) => send(client, command))));
      if (this.hasOpened && !this.state.isUp) await probeBy((command) => replicated.send(command));
    }
    this.move(true, 'The store answers.');
  }

  private emit(event: StoreEvent): void {
    for (const listener of [...this.listeners]) listener(event);
  }

  private moveDown(thrown: unknown): void {
    this.told = toldOf(thrown);
    // Why there is no connection is what the last attempt to open it has met.
    this.move(false, failure((thrown instanceof ClientOfflineError && this.failed) || thrown));
  }

  private move(isUp: boolean, reason: string): void {
    if (this.isClosed) return;
    const isChange = this.state.isUp !== isUp;
    if (isChange) this.reasons.clear();
    this.state = { isUp, reason };
    // An outage may begin with a connection that breaks, and last because of a password that is wrong.
    if (isChange || !(isUp || this.reasons.has(reason))) this.emit({ type: 'health', isUp, reason });
    this.reasons.add(reason);
    clearTimeout(this.probing);
    this.probing = setTimeout(() => void this.check(), isUp ? HEARTBEAT_MS : PROBE_MS).unref();
  }
}

/** What may be wrong with a server that was not reached, by what the failure says. */
const ADVICE: readonly (readonly [failure: RegExp, advice: string])[] = [
  [
    /closed|ECONNRESET/,
    'A Redis server closes connections at once if they come from other machines and it is in protected mode (give it a password, or set protected-mode no), or if it expects TLS (rediss://).',
  ],
  [
    /certificate required|handshake failure/,
    'The service presents no certificate to the store: set tls-auth-clients no there.',
  ],
  [/^(NOPERM|ERR unknown command)/, 'docs/operations.md (Sessions in a store) lists the rights that the user needs.'],
  [/^(CROSSSLOT|MOVED|CLUSTERDOWN)/, 'The store must be a single primary, not a cluster.'],
];

function adviceOn(failed: unknown): string {
  const reason = reasonOf(failed);
  return ADVICE.flatMap(([failure, advice]) => (failure.test(reason) ? [` ${advice}`] : [])).join('');
}

type Send = (command: readonly (string | Buffer)[]) => Promise<Reply>;

async function evaluate(
  script: Script,
  keys: readonly string[],
  args: readonly Argument[],
  sendOnce: Send,
): Promise<Reply> {
  const tail = [String(keys.length), ...keys, ...args.map(bytesOf)];
  try {
    return await sendOnce(['EVALSHA', shaOf(script), ...tail]);
  } catch (thrown) {
    if (!/^NOSCRIPT/.test(reasonOf(thrown))) throw thrown;
    return sendOnce(['EVAL', script.text, ...tail]);
  }
}

const failure = (thrown: unknown): string => `The store failed: ${reasonOf(thrown)}.`;

/** A failure in words of this service, which name no host; undefined = the words are those of the store or the system. */
const toldOf = (thrown: unknown): string | undefined =>
  thrown instanceof NoAnswer ? `The session store failed: ${reasonOf(thrown)}.` : undefined;
