import { request as httpRequest } from 'node:http';
import { Client, credentials } from '@grpc/grpc-js';
import { pino } from 'pino';
import type { Test } from 'tap';
import { readConfig } from '../../src/config/config.js';
import type { Caller } from '../../src/contract/call-context.js';
import type { Operations } from '../../src/contract/operations.js';
import { startServer } from '../../src/server/server.js';
import { createOperations } from '../../src/session/operations.js';
import { makeKey } from '../../src/transport/auth/key-file.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { LIMITS } from '../support/job.js';
import type { SecretCloth } from '../support/secret.js';
import { callRaw } from '../transport/grpc/door.js';

/** All bytes that came back for each kind of request, heads included. */
export type Answers = Readonly<Record<string, Uint8Array>>;

export interface TwoTenants {
  /** behind the doors */
  readonly operations: Operations;
  readonly red: Tenant;
  readonly blue: Tenant;
}

/**
 * The service in this process with a key for each of two tenants, closed with the test.
 *
 * @param change of the operations before the doors open
 * @throws INVALID_PARAMETER with the reason when there is no such engine here
 */
export async function openTwoTenants(
  t: Test,
  engine: 'cpu' | 'webgpu',
  change: (operations: Operations) => Operations = (same) => same,
): Promise<TwoTenants> {
  const limits = { ...LIMITS, maxSessions: 8 };
  const operations = change(await createOperations({ engine, threads: 1, limits, allowUnverified: false }));
  await operations.ready();
  const [red, blue] = [makeKey('red'), makeKey('blue')];
  const environment = {
    INTERSTICE_HTTP_PORT: '0',
    INTERSTICE_GRPC_PORT: '0',
    INTERSTICE_ADMIN_PORT: '0',
    INTERSTICE_API_KEYS: `${t.testdir({ keys: `${red.line}\n${blue.line}\n` })}/keys`,
  };
  const log = pino({ level: 'silent' });
  const server = await startServer(readConfig(environment), operations, { log, handleSignals: false });
  const client = new Client(`${server.grpcAddress}`, credentials.createInsecure());
  t.teardown(async () => {
    client.close();
    await server.close();
  });
  const tenant = (name: string, key: string) => new Tenant(name, key, server.address, client);
  return { operations, red: tenant('red', red.key), blue: tenant('blue', blue.key) };
}

const PROTOBUF = 'application/x-protobuf';
const POSITIONS = 'application/octet-stream';
const INCLUDE = { contacts: true, vertices: true };
/** Under which the vertices of the secret cloth end on their targets to the bit, so that the positions of its answers tell the secret. */
const PARAMETERS = { quality: 'FAST' };

/** One holder of a key. */
export class Tenant {
  readonly caller: Caller;

  constructor(
    name: string,
    private readonly key: string,
    private readonly address: string,
    private readonly client: Client,
  ) {
    this.caller = { tenant: name, maxPriority: 'INTERACTIVE' };
  }

  /** Every kind of request whose answer depends on a mesh, once a door; its sessions are deleted at the end. */
  async askEverything({ mesh, start, target }: SecretCloth): Promise<Answers> {
    const positions = (data: Float32Array) => ({ data, scalar: 'FLOAT32' });
    const opening = encodeMessage('CreateSessionRequest', { mesh, start: positions(start), parameters: PARAMETERS });
    const resolve = encodeMessage('ResolveRequest', {
      mesh,
      start: positions(start),
      target: positions(target),
      parameters: PARAMETERS,
      include: INCLUDE,
    });
    const check = encodeMessage('CheckRequest', { mesh, positions: positions(start), reportPairsCloserThan: 0.01 });
    const step = (sessionId: string) =>
      encodeMessage('StepRequest', { sessionId, target: positions(target), include: INCLUDE });

    const overHttp = await this.post('/v1/sessions', PROTOBUF, opening);
    const overGrpc = await this.call('CreateSession', opening);
    const [one, two] = [overHttp, overGrpc].map(({ body }) => String(decodeMessage('Session', body).id)) as [
      string,
      string,
    ];
    const path = `/v1/sessions/${one}`;
    const answers = {
      'http session': overHttp,
      'grpc session': overGrpc,
      'http step': await this.post(`${path}/steps`, POSITIONS, new Uint8Array(target.buffer)),
      'http step message': await this.post(`${path}/steps`, PROTOBUF, step(one)),
      'http resolve': await this.post('/v1/resolve', PROTOBUF, resolve),
      'http check': await this.post('/v1/check', PROTOBUF, check),
      'http refusal': await this.post(`${path}/steps`, POSITIONS, new Uint8Array(target.buffer, 4), 400),
      'grpc step': await this.call('Step', step(two)),
      'grpc resolve': await this.call('Resolve', resolve),
      'grpc check': await this.call('Check', check),
      'grpc read': await this.call('GetSession', encodeMessage('GetSessionRequest', { sessionId: two })),
    };
    for (const sessionId of [one, two]) {
      await this.call('DeleteSession', encodeMessage('DeleteSessionRequest', { sessionId }));
    }
    return Object.fromEntries(
      Object.entries(answers).map(([name, { head, body }]) => [name, Buffer.concat([head, body])]),
    );
  }

  private async call(method: string, message: Uint8Array) {
    const metadata = { authorization: `Bearer ${this.key}` };
    const { error, bytes, headers } = await callRaw(this.client, method, message, { metadata });
    if (error) throw error;
    return { head: Buffer.from(JSON.stringify(headers?.toJSON() ?? {})), body: bytes! };
  }

  private post(path: string, type: string, content: Uint8Array, expected = 0): Promise<{ head: Buffer; body: Buffer }> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': type, 'content-length': content.byteLength, 'x-api-key': this.key };
      const outgoing = httpRequest(`${this.address}${path}`, { method: 'POST', headers }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const body = Buffer.concat(chunks);
          const status = incoming.statusCode ?? 0;
          const isExpected = expected === 0 ? status >= 200 && status < 300 : status === expected;
          if (isExpected) resolve({ head: Buffer.from(incoming.rawHeaders.join('\n')), body });
          else reject(new Error(`${path} was answered with ${status}: ${body}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(content);
    });
  }
}
