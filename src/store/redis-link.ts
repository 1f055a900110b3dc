import { readFileSync } from 'node:fs';
import { createClient, RESP_TYPES } from '@redis/client';
import { IntersticeError } from '../contract/errors.js';
import { type Script, shaOf } from './redis-scripts.js';
import { StoreDown, type StoreEvent, type StoreHealth } from './session-store.js';

export interface RedisOptions {
  /** `redis://HOST:PORT/DATABASE` or `rediss://…`, with a user name if there is one, without a password */
  readonly url: string;
  /** its first line is the password */
  readonly passwordFile?: string | undefined;
  /** PEM: the authority that has signed the certificate of the server; default: those that Node trusts */
  readonly caFile?: string | undefined;
  /** of every key */
  readonly prefix: string;
  /** how long a command may take */
  readonly timeoutMs: number;
  /** replicas that must have a write before it counts */
  readonly replicas: number;
}

export type Reply = Buffer | number | null | readonly Reply[];
type Argument = string | Uint8Array;

/** ms between two attempts while the store is down, and between two looks at one that answers: a process without requests notices too */
const PROBE_MS = 250;
const HEARTBEAT_MS = 1000;
/** Commands that may wait for their answers on one connection; each is bounded in time as well. */
const MAX_COMMANDS = 10_000;

/**
 * Two connections to a server: one for small commands and frames, one for what is large and nobody waits for. Every command has a
 * time limit. After a failure the link is down: it refuses at once, so that callers do not queue up behind a dead server, and tries
 * a write again and again until one succeeds. While it is up it writes now and then, so that a store that is lost is noticed
 * without a request.
 */
export class RedisLink {
  private readonly frames: Client;
  private readonly bulk: Client;
  private state: StoreHealth = { isUp: false, reason: 'The store has not been reached yet.' };
  private probing: NodeJS.Timeout | undefined;
  private hasOpened = false;
  private isClosed = false;
  private readonly listeners = new Set<(event: StoreEvent) => void>();

  private constructor(private readonly options: RedisOptions) {
    const isHopeless = (cause: Error) => !this.hasOpened && isMistake(cause);
    this.frames = clientFor(options, isHopeless);
    this.bulk = clientFor(options, isHopeless);
    // Failures are seen where commands fail; without a listener an event of this name would end the process.
    for (const client of [this.frames, this.bulk]) client.on('error', () => {});
  }

  /** @throws INVALID_PARAMETER when the store cannot be reached within its time limit, and at once where no time would help */
  static async open(options: RedisOptions): Promise<RedisLink> {
    let link: RedisLink | undefined;
    try {
      link = new RedisLink(options);
      await within(options.timeoutMs, Promise.all([link.frames.connect(), link.bulk.connect()]));
      await link.probe();
      link.hasOpened = true;
      return link;
    } catch (cause) {
      await link?.close();
      throw new IntersticeError('INVALID_PARAMETER', `The store cannot be used: ${reasonOf(cause)}.`, {
        cause,
        hint: 'Correct INTERSTICE_STORE and the settings beside it, or start the store first.',
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
    const client = isBulk ? this.bulk : this.frames;
    const tail = [String(keys.length), ...keys, ...args.map(bytesOf)];
    return this.bounded(script.name, async () => {
      const reply = await send(client, ['EVALSHA', shaOf(script), ...tail]).catch((thrown: unknown) => {
        if (!/^NOSCRIPT/.test(reasonOf(thrown))) throw thrown;
        return send(client, ['EVAL', script.text, ...tail]);
      });
      if (script.isWrite) await this.awaitReplicas(client);
      return reply;
    });
  }

  /** @throws StoreDown */
  async send(name: string, args: readonly string[]): Promise<Reply> {
    return this.bounded(name, () => send(this.frames, args));
  }

  /** A question that the server may refuse to answer: then undefined. */
  async tryQuery(args: readonly string[]): Promise<Reply | undefined> {
    return within(this.options.timeoutMs, send(this.frames, args)).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.probing);
    for (const client of [this.frames, this.bulk]) if (client.isOpen) client.destroy();
  }

  private async awaitReplicas(client: Client): Promise<void> {
    const { replicas, timeoutMs } = this.options;
    if (replicas === 0) return;
    const count = await send(client, ['WAIT', String(replicas), String(Math.ceil(timeoutMs))]);
    if (Number(count) < replicas) throw new Error(`only ${count} of ${replicas} replicas have the write`);
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

  /** A write, since a store that only reads is of no use. */
  private async probe(): Promise<void> {
    const { prefix, timeoutMs } = this.options;
    const command = ['SET', `${prefix}:probe`, '1', 'PX', '60000'];
    await within(timeoutMs, Promise.all([send(this.frames, command), send(this.bulk, command)]));
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

type Client = ReturnType<typeof clientFor>;

function clientFor({ url, passwordFile, caFile, timeoutMs }: RedisOptions, isHopeless: (cause: Error) => boolean) {
  const connectTimeout = Math.ceil(timeoutMs);
  const reconnectStrategy = (retries: number, cause: Error) =>
    isHopeless(cause) ? false : Math.min(50 * 2 ** retries, 1000);
  // The user is taken out of the URL, because the library prefers the credentials of a URL to others.
  const address = new URL(url);
  const username = decodeURIComponent(address.username) || undefined;
  address.username = '';
  // The file is read at every connection, so that a password can be changed while the service runs.
  const credentials = async () => ({ username, password: passwordFile && readPassword(passwordFile) });
  const ca = caFile === undefined ? undefined : readFileSync(caFile);
  const common = { connectTimeout, reconnectStrategy };
  return createClient({
    url: address.href,
    ...(username || passwordFile ? { credentialsProvider: { type: 'async-credentials-provider', credentials } } : {}),
    socket: url.startsWith('rediss:') ? { ...common, tls: true as const, ...(ca ? { ca } : {}) } : common,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    RESP: 2,
  });
}

/** Wrong settings: a password, a user or a certificate that is refused, or a file that cannot be read. */
function isMistake(cause: Error): boolean {
  const { code = '' } = cause as NodeJS.ErrnoException;
  return (
    /^(WRONGPASS|NOAUTH|NOPERM|ERR )/.test(cause.message) ||
    /^(ENOENT|EACCES|EISDIR)$|CERT|SIGNATURE|^ERR_TLS/.test(code)
  );
}

function readPassword(path: string): string {
  const [line = ''] = readFileSync(path, 'utf8').split(/\r?\n/);
  return line;
}

function send(client: Client, args: readonly (string | Buffer)[]): Promise<Reply> {
  return client.sendCommand<Reply>(args, { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } });
}

function bytesOf(argument: Argument): string | Buffer {
  if (typeof argument === 'string') return argument;
  return Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // An answer that has arrived while this thread was busy counts: it is read before the immediate runs.
    const refuse = () => setImmediate(() => reject(new Error(`no answer within ${ms / 1000} s`)));
    timer = setTimeout(refuse, ms);
  });
  // What fails after its time is up has been reported already.
  work.catch(() => {});
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const failure = (thrown: unknown): string => `The store failed: ${reasonOf(thrown)}.`;
const reasonOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).replace(/\.$/, '');
