import type { Answer, Ask } from './connection.js';

/** Paths of PEM files; Node only. Without `ca` the authorities that Node trusts count. */
export interface TlsFiles {
  /** who signed the server's certificate */
  readonly ca?: string;
  /** this side's own certificate with its chain, for a server that asks for one (mTLS); goes with `key` */
  readonly cert?: string;
  readonly key?: string;
}

type Builtin = NonNullable<typeof process.getBuiltinModule>;

/**
 * Asks as `fetch` does, with certificates of the caller's own, which `fetch` of Node cannot take.
 * @throws TypeError when the files cannot be read or do not fit together, or when this is no Node
 */
export function askWith(files: TlsFiles): Ask {
  // Not imported: what bundles this for a browser would look for these modules there.
  const builtin: Builtin | undefined = globalThis.process?.getBuiltinModule;
  if (!builtin) throw new TypeError('The option tls needs Node 20.16 or newer. In older ones set NODE_EXTRA_CA_CERTS.');
  const { Agent, request } = builtin('node:https');
  const agent = new Agent({ secureContext: contextOf(files, builtin), keepAlive: true });
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const options = { agent, method, headers: { ...headers, ...length }, signal };
      const asking = request(url, options, (incoming) => {
        const status = incoming.statusCode ?? 0;
        // Read at once, wanted or not: a connection with an answer left in it is never free again, and keeps Node running.
        const bytes = readBytes(incoming, Number(incoming.headers['content-length'] ?? Number.NaN));
        bytes.catch(() => {});
        const answer: Answer = {
          ok: status >= 200 && status < 300,
          status,
          url,
          headers: { get: (name) => [incoming.headers[name]].flat()[0] ?? null },
          arrayBuffer: () => bytes,
          text: async () => new TextDecoder().decode(await bytes),
        };
        resolve(answer);
      });
      asking.on('error', reject);
      asking.end(body);
    });
}

function contextOf(files: TlsFiles, builtin: Builtin) {
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw new TypeError('tls.cert and tls.key belong together: give both, or neither.');
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
    throw new TypeError(
      `TLS cannot use ${names} (${(cause as Error).message}). Are they PEM files that fit together?`,
      {
        cause,
      },
    );
  }
}

/** @param length as announced; NaN: unknown, which costs a second copy */
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
