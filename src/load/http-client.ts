import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { Agent as EncryptedAgent, request as requestEncrypted } from 'node:https';

/** Longest silence of a server, ms: beyond it the request fails. */
const PATIENCE_MS = 300_000;

export interface HttpReply {
  readonly status: number;
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** microseconds by stage, if the answer has them */
  readonly timings: Record<string, number> | undefined;
}

/** One connection that stays open, without any layer above the socket that would take time. */
export class HttpClient {
  private readonly agent: Agent;
  private readonly send: typeof request;

  /**
   * @param address http:// or https://, without a slash at the end
   * @param always headers of every request
   */
  constructor(
    private readonly address: string,
    private readonly always: OutgoingHttpHeaders = {},
  ) {
    const isEncrypted = address.startsWith('https:');
    this.agent = new (isEncrypted ? EncryptedAgent : Agent)({ keepAlive: true, maxSockets: 1 });
    this.send = isEncrypted ? requestEncrypted : request;
  }

  /** @param more headers besides type and length */
  post(
    path: string,
    body: Uint8Array,
    type = 'application/octet-stream',
    more: OutgoingHttpHeaders = {},
  ): Promise<HttpReply> {
    return this.#request('POST', path, body, { 'content-type': type, 'content-length': body.byteLength, ...more });
  }

  delete(path: string, more: OutgoingHttpHeaders = {}): Promise<HttpReply> {
    return this.#request('DELETE', path, undefined, more);
  }

  #request(
    method: 'POST' | 'DELETE',
    path: string,
    body: Uint8Array | undefined,
    more: OutgoingHttpHeaders,
  ): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const outgoing = this.send(
        `${this.address}${path}`,
        { agent: this.agent, method, headers: { ...this.always, ...more } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              body: Buffer.concat(chunks),
              headers: answer.headers,
              timings: timingsIn(answer.rawHeaders),
            }),
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.setTimeout(PATIENCE_MS, () => outgoing.destroy(new Error('The server does not answer.')));
      outgoing.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** `server-timing` as microseconds by stage; names and values alternate in the list. */
export function timingsIn(headers: readonly string[]): Record<string, number> | undefined {
  const place = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'server-timing');
  if (place < 0) return undefined;
  const timings: Record<string, number> = {};
  for (const [, stage, ms] of (headers[place + 1] ?? '').matchAll(/([\w-]+);dur=([\d.]+)/g))
    timings[stage!] = Number(ms) * 1000;
  return timings;
}
