import { readFileSync } from 'node:fs';
import { createClient, RESP_TYPES } from '@redis/client';

export interface RedisOptions {
  /** `redis://HOST:PORT/DATABASE` or `rediss://…`, with a user name if there is one, without a password */
  readonly url: string;
  /** its first line is the password */
  readonly passwordFile?: string | undefined;
  /** PEM: the authority that signed the certificate of the server; default: those that Node trusts */
  readonly caFile?: string | undefined;
  /** of every key */
  readonly prefix: string;
  /** longest time of a command */
  readonly timeoutMs: number;
  /** replicas that must have a write before it is accepted */
  readonly replicas: number;
}

export type Reply = Buffer | number | null | readonly Reply[];
export type Argument = string | Uint8Array;

/** Commands that may wait for their answers on one connection; each also has a time limit. */
const MAX_COMMANDS = 10_000;

export type Client = ReturnType<typeof clientFor>;

export function clientFor(
  { url, passwordFile, caFile, timeoutMs }: RedisOptions,
  isHopeless: (cause: Error) => boolean,
) {
  const connectTimeout = Math.ceil(timeoutMs);
  const reconnectStrategy = (retries: number, cause: Error) =>
    isHopeless(cause) ? false : Math.min(50 * 2 ** retries, 1000);
  // The user is removed from the URL, because the library prefers the credentials of a URL to others.
  const address = new URL(url);
  const username = decodeURIComponent(address.username) || undefined;
  address.username = '';
  // The file is read for every connection, so that the password can be changed while the service runs.
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
export function isMistake(cause: Error): boolean {
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

export function send(client: Client, args: readonly (string | Buffer)[]): Promise<Reply> {
  return client.sendCommand<Reply>(args, { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } });
}

export function bytesOf(argument: Argument): string | Buffer {
  if (typeof argument === 'string') return argument;
  return Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength);
}

export const reasonOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).trim().replace(/\.$/, '');

export class NoAnswer extends Error {}

/** @throws NoAnswer when the time is over */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
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
