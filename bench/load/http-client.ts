import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { timingsIn } from './http-driver.js';

export interface HttpReply {
  readonly status: number;
  readonly body: Buffer;
  /** microseconds by stage, where the answer has them */
  readonly timings: Record<string, number> | undefined;
}

/** One connection that stays open, and nothing between it and the socket that could take time of its own. */
export class HttpClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly address: string) {}

  /** @param more headers besides type and length */
  post(
    path: string,
    body: Uint8Array,
    type = 'application/octet-stream',
    more: OutgoingHttpHeaders = {},
  ): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        `${this.address}${path}`,
        {
          agent: this.agent,
          method: 'POST',
          headers: { 'content-type': type, 'content-length': body.byteLength, ...more },
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              body: Buffer.concat(chunks),
              timings: timingsIn(answer.rawHeaders),
            }),
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
