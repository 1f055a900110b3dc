import autocannon from 'autocannon';
import { timingsIn } from '../../src/load/http-client.js';
import { asBuffer } from '../../src/load/messages.js';
import type { Sample } from '../../src/load/sample.js';
import type { Cloth } from './cloth.js';

export interface HttpLoad {
  /** of the HTTP port */
  readonly address: string;
  readonly sessions: readonly string[];
  readonly cloth: Cloth;
  readonly connections: number;
  readonly seconds: number;
  /** ends the run after this many steps of each connection, however long they take; absent = after `seconds` */
  readonly steps?: number | undefined;
}

/**
 * Sends steps as bare positions, each connection with one request at a time, over its share of the sessions in turn.
 * With more connections than sessions several share one, whose steps then wait for each other.
 */
export async function runHttp(load: HttpLoad): Promise<Sample[]> {
  const { address, sessions, cloth, connections, seconds, steps } = load;
  const samples: Sample[] = [];
  const bodies = cloth.targets.map(asBuffer);
  let opened = 0;
  await autocannon({
    url: address,
    connections,
    ...(steps === undefined ? { duration: seconds } : { amount: steps * connections }),
    timeout: seconds + PATIENCE_SECONDS,
    setupClient: (client) => {
      const mine = shareOf(sessions, connections, opened++);
      client.setRequests(
        bodies.flatMap((body) =>
          mine.map((session) => ({
            method: 'POST' as const,
            path: `/v1/sessions/${sessions[session]}/steps`,
            headers: { 'content-type': 'application/octet-stream' },
            body,
          })),
        ),
      );
      let turn = 0;
      let timings: Record<string, number> | undefined;
      let refusal = '';
      client.on('headers', (head) => {
        timings = timingsIn((head as unknown as { headers: string[] }).headers);
      });
      client.on('body', (body) => {
        refusal = timings ? '' : refusal + body.toString('latin1');
      });
      client.on('response', (status, _bytes, ms) => {
        const session = mine[turn++ % mine.length]!;
        samples.push({ session, ms, code: status === 200 ? 'OK' : codeIn(refusal, status), timings });
        refusal = '';
      });
    },
  });
  return samples;
}

/** The tool abandons a connection after this much more than the whole run. */
const PATIENCE_SECONDS = 60;

/** Indices of the sessions that worker `index` of `count` serves. */
export function shareOf(sessions: readonly unknown[], count: number, index: number): number[] {
  if (index >= sessions.length) return [index % sessions.length];
  const share: number[] = [];
  for (let session = index; session < sessions.length; session += count) share.push(session);
  return share;
}

const codeIn = (body: string, status: number): string => /"code":"([A-Z_]+)"/.exec(body)?.[1] ?? `HTTP_${status}`;
