import { IntersticeError } from '../contract/errors.js';
import {
  type Argument,
  bytesOf,
  type Client,
  clientFor,
  isMistake,
  type RedisOptions,
  type Reply,
  reasonOf,
  send,
} from './redis-client.js';
import { type Script, shaOf } from './redis-scripts.js';
import { ReplicatedWrites } from './replicated-writes.js';
import { StoreDown, type StoreEvent, type StoreHealth } from './session-store.js';

/** ms between two attempts while the store is down; below, between two checks while it answers */
const PROBE_MS = 250;
const HEARTBEAT_MS = 1000;

/**
 * Connections to a server: one for small commands and frames, one for large values that no caller waits for, and, if
 * replicas are required, some on which writes wait for them. Every command has a time limit. After a failure the link
 * is down: it refuses at once, so that callers do not queue behind a dead server, and repeats a write until one
 * succeeds. While it is up it writes at intervals, so that a lost store is noticed without a request.
 */
export class RedisLink {
  private readonly frames: Client;
  private readonly bulk: Client;
  private readonly replicated: ReplicatedWrites | undefined;
  private state: StoreHealth = { isUp: false, reason: 'The store has not been reached yet.' };
  private probing: NodeJS.Timeout | undefined;
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
    this.frames = connect();
    this.bulk = connect();
    this.replicated = options.replicas > 0 ? new ReplicatedWrites(connect, options) : undefined;
  }

  /** @throws INVALID_PARAMETER if the store is not reached within its time limit, and at once if waiting cannot help */
  static async open(options: RedisOptions): Promise<RedisLink> {
    let link: RedisLink | undefined;
    try {
      link = new RedisLink(options);
      await within(options.timeoutMs, Promise.all(link.clients.map((client) => client.connect())));
      await link.probe();
      link.hasOpened = true;
      return link;
    } catch (cause) {
      await link?.close();
      const failed = cause instanceof NoAnswer ? link?.failed : undefined;
      const last = failed ? `; the last connection failed: ${reasonOf(failed)}` : '';
      const advice = /closed/.test(failed?.message ?? '') ? CLOSED_HINT : '';
      throw new IntersticeError('INVALID_PARAMETER', `The store cannot be used: ${reasonOf(cause)}${last}.`, {
        cause,
        hint: `Correct INTERSTICE_STORE and the settings beside it, or start the store first.${advice}`,
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

  /** @throws StoreDown */
  async run(script: Script, keys: readonly string[], args: readonly Argument[], isBulk = false): Promise<Reply> {
    const tail = [String(keys.length), ...keys, ...args.map(bytesOf)];
    const client = isBulk ? this.bulk : this.frames;
    const once = (command: readonly (string | Buffer)[]) =>
      script.isWrite && this.replicated ? this.replicated.send(command) : send(client, command);
    return this.bounded(script.name, () =>
      once(['EVALSHA', shaOf(script), ...tail]).catch((thrown: unknown) => {
        if (!/^NOSCRIPT/.test(reasonOf(thrown))) throw thrown;
        return once(['EVAL', script.text, ...tail]);
      }),
    );
  }

  /** @throws StoreDown */
  async send(name: string, args: readonly string[]): Promise<Reply> {
    return this.bounded(name, () => send(this.frames, args));
  }

  /** Sends a query that the server may refuse; the result is then undefined. */
  async tryQuery(args: readonly string[]): Promise<Reply | undefined> {
    return within(this.options.timeoutMs, send(this.frames, args)).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.probing);
    for (const client of this.clients) if (client.isOpen) client.destroy();
  }

  private get clients(): readonly Client[] {
    return [this.frames, this.bulk, ...(this.replicated?.clients ?? [])];
  }

  private async bounded<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (!this.state.isUp) throw new StoreDown(this.state.reason);
    const startedAt = performance.now();
    const report = (isOk: boolean) =>
      this.emit({ type: 'call', name, seconds: (performance.now() - startedAt) / 1000, isOk });
    try {
      const result = await within(this.options.timeoutMs, work());
      report(true);
      return result;
    } catch (thrown) {
      report(false);
      this.move(false, failure(thrown));
      throw new StoreDown(this.state.reason, { cause: thrown });
    }
  }

  /** Tests with a write, because a read-only store is of no use. */
  private async probe(): Promise<void> {
    const { prefix, timeoutMs } = this.options;
    const command = ['SET', `${prefix}:probe`, '1', 'PX', '60000'];
    const idle = this.replicated?.idle ?? [];
    await within(timeoutMs, Promise.all([this.frames, this.bulk, ...idle].map((client) => send(client, command))));
    this.move(true, 'The store answers.');
  }

  private emit(event: StoreEvent): void {
    for (const listener of [...this.listeners]) listener(event);
  }

  private move(isUp: boolean, reason: string): void {
    if (this.isClosed) return;
    const isChange = this.state.isUp !== isUp;
    this.state = { isUp, reason };
    if (isChange) this.emit({ type: 'health', isUp, reason });
    clearTimeout(this.probing);
    this.probing = setTimeout(
      () => this.probe().catch((thrown) => this.move(false, failure(thrown))),
      isUp ? HEARTBEAT_MS : PROBE_MS,
    ).unref();
  }
}

class NoAnswer extends Error {}

const CLOSED_HINT =
  ' A Redis server in protected mode closes connections from other machines at once: give it a password, or set protected-mode no.';

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // An answer that arrived while this thread was busy counts: it is read before the immediate runs.
    const refuse = () => setImmediate(() => reject(new NoAnswer(`no answer within ${ms / 1000} s`)));
    timer = setTimeout(refuse, ms);
  });
  // A failure after the time limit has already been reported.
  work.catch(() => {});
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const failure = (thrown: unknown): string => `The store failed: ${reasonOf(thrown)}.`;
