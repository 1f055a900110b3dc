import { ServiceError } from './errors.js';

/** The part of a Response that the client uses. */
export interface FetchResponse extends Pick<Response, 'ok' | 'status' | 'url' | 'arrayBuffer' | 'text'> {
  /** by lower-case name */
  readonly headers: Pick<Headers, 'get'>;
  /** the bytes as they arrive; read it, or arrayBuffer, or text */
  readonly body: { getReader(): BodyReader } | null;
}

interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Media type of answers that come line by line. */
export const STREAM_TYPE = 'application/x-ndjson';

/** The part of `fetch` that the client uses. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string | Uint8Array<ArrayBuffer>;
    readonly signal: AbortSignal;
  },
) => Promise<FetchResponse>;

/** Paths of PEM files; Node only. Without `ca` the authorities that Node trusts apply. */
export interface TlsFiles {
  /** the authority that signed the server's certificate */
  readonly ca?: string;
  /** the client's certificate with its chain, for a server that requires one (mTLS); needs `key` */
  readonly cert?: string;
  readonly key?: string;
}

type Builtin = NonNullable<typeof process.getBuiltinModule>;

/**
 * A `fetch` with the caller's certificates, which Node's `fetch` does not accept.
 * @throws TypeError if a file cannot be read, the files do not match, or this is not Node
 */
export function fetchWith(files: TlsFiles): Fetch {
  // Not imported, because a bundler for browsers would look for these modules.
  const builtin: Builtin | undefined = globalThis.process?.getBuiltinModule;
  if (!builtin)
    throw new TypeError('The option tls needs Node 20.16 or newer. In older versions set NODE_EXTRA_CA_CERTS.');
  const { Agent, request } = builtin('node:https');
  const agent = new Agent({ secureContext: contextOf(files, builtin), keepAlive: true });
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const options = { agent, method, headers: { ...headers, ...length }, signal };
      const outgoing = request(url, options, (incoming) => {
        const status = incoming.statusCode ?? 0;
        const isStream = incoming.headers['content-type']?.startsWith(STREAM_TYPE) === true;
        // Read at once, even if unused: a connection with an unread answer is never released and keeps Node running.
        // The caller reads a stream.
        const length = Number(incoming.headers['content-length'] ?? Number.NaN);
        const bytes = isStream ? NEVER : readBytes(incoming, length);
        bytes.catch(() => {});
        const answer: FetchResponse = {
          ok: status >= 200 && status < 300,
          status,
          url,
          headers: { get: (name) => [incoming.headers[name]].flat()[0] ?? null },
          arrayBuffer: () => bytes,
          text: async () => new TextDecoder().decode(await bytes),
          body: isStream ? (builtin('node:stream').Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : null,
        };
        resolve(answer);
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
}

function contextOf(files: TlsFiles, builtin: Builtin) {
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw new TypeError('tls.cert and tls.key belong together. Set both or neither.');
  }
  const read = (name: keyof TlsFiles) => {
    const path = files[name];
    if (path === undefined) return undefined;
    try {
      return builtin('node:fs').readFileSync(path);
    } catch (cause) {
      throw new TypeError(`The file of tls.${name} cannot be read (${(cause as Error).message}).`, { cause });
    }
  };
  const pem = { ca: read('ca'), cert: read('cert'), key: read('key') };
  try {
    return builtin('node:tls').createSecureContext(pem);
  } catch (cause) {
    const names = Object.values(files).join(', ');
    throw new TypeError(`TLS cannot use ${names} (${(cause as Error).message}). Are they PEM files that match?`, {
      cause,
    });
  }
}

/** The bytes of an answer that is read as a stream. */
const NEVER: Promise<ArrayBuffer> = Promise.reject(new TypeError('This answer is a stream.'));
NEVER.catch(() => {});

/** @param length from content-length; NaN if unknown, which costs a second copy */
async function readBytes(chunks: AsyncIterable<Uint8Array>, length: number): Promise<ArrayBuffer> {
  if (Number.isNaN(length)) {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    return Uint8Array.from(Buffer.concat(parts)).buffer;
  }
  const bytes = new Uint8Array(length);
  let end = 0;
  for await (const chunk of chunks) {
    bytes.set(chunk, end);
    end += chunk.byteLength;
  }
  return bytes.buffer;
}

/** Closed connections before a certificate is suspected. A server that is starting behind a proxy closes a few, too. */
const CLOSED_LIMIT = 5;

interface Fault {
  readonly pattern: RegExp;
  readonly message: string;
  readonly hint: string;
}

const GIVE_CERTIFICATE =
  'If the server requires client certificates (mTLS), set tls.cert and tls.key to a valid certificate of an authority that the server trusts.';

/** Matched against the codes and messages of OpenSSL and Node. The Python and C++ clients match the same ones. */
const FAULTS: readonly Fault[] = [
  {
    pattern:
      /verify_failed|unable_to_(get_(local_)?issuer|verify)|self[_-]signed|cert_(has_expired|not_yet_valid|untrusted|revoked|rejected|signature)|altname|hostname_mismatch|invalid_ca|invalid_purpose/,
    message: 'presents a certificate that this client does not trust',
    hint: 'Set tls.ca to the certificate of the authority that signed it, and use an address that the certificate names.',
  },
  {
    pattern: /alert_.*(certificate|unknown_ca|handshake_failure|access_denied)/,
    message: 'rejects this client, which has no certificate that the server trusts',
    hint: GIVE_CERTIFICATE,
  },
  {
    pattern: /wrong_version|packet_length_too_long|unsupported_protocol|protocol_version/,
    message: 'does not use TLS, or only a version that this client does not support',
    hint: 'Is this the port that uses TLS? Without TLS the address begins with http://.',
  },
];

/** The connection closed after the handshake ended on this side; before that, the server may just be starting. */
const CLOSED = /und_err_socket|econnreset|epipe|socket_hang_up/;
const TOO_EARLY = /before_secure_tls/;

/**
 * Distinguishes a fault of the certificates from a connection that merely broke.
 *
 * A server that rejects a certificate may simply close the connection (Node's do) after the handshake has ended on this
 * side. Only repetition distinguishes that from a server that stops at that moment.
 */
export class TlsDiagnosis {
  #closed = 0;
  #isAnswered = false;

  recordAnswer(): void {
    this.#isAnswered = true;
  }

  /** @returns undefined if the cause may be another one and a retry may succeed */
  explain(address: string, thrown: unknown): ServiceError | undefined {
    const cause = (thrown as { cause?: unknown }).cause ?? thrown;
    const { code = '', message = '' } = cause as { code?: string; message?: string };
    const words = `${code} ${message}`.toLowerCase().replaceAll(' ', '_');
    const fault = FAULTS.find(({ pattern }) => pattern.test(words));
    const refusal = (text: string, hint: string) =>
      new ServiceError({ code: 'TLS_REFUSED', message: `${address} ${text}.`, hint, cause: thrown });
    if (fault) return refusal(`${fault.message} (${code || message})`, fault.hint);
    if (this.#isAnswered || !CLOSED.test(words) || TOO_EARLY.test(words)) return undefined;
    this.#closed += 1;
    if (this.#closed < CLOSED_LIMIT) return undefined;
    return refusal(`closed ${this.#closed} connections without an answer (${message})`, GIVE_CERTIFICATE);
  }
}
