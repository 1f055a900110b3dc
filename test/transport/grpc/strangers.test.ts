import { Client, credentials, status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { BrowserGuard } from '../../../src/transport/browser-guard.js';
import { callRaw, detailsOf, openGrpc } from './door.js';

const guard = new BrowserGuard({
  hosts: ['own.example'],
  acceptsAddresses: false,
  origins: [],
  refusesOtherPages: true,
});

function clientOf(t: Test, port: number, authority?: string): Client {
  const options = authority === undefined ? {} : { 'grpc.default_authority': authority };
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  t.teardown(() => client.close());
  return client;
}

const health = (client: Client) =>
  new Promise<number>((resolve) => {
    const asIs = (bytes: Buffer) => bytes;
    const path = '/grpc.health.v1.Health/Check';
    client.makeUnaryRequest(path, asIs, asIs, Buffer.alloc(0), (error) => resolve(error?.code ?? status.OK));
  });

t.test('calls of an unknown authority are refused, those of other services too', async (t) => {
  const { operations, port } = await openGrpc(t, { guard });
  const stranger = clientOf(t, port, 'evil.example:50051');
  const { error } = await callRaw(stranger, 'GetServerInfo', new Uint8Array());
  t.equal(error?.code, status.PERMISSION_DENIED);
  t.match(detailsOf(error).error, { code: 'PERMISSION_DENIED', hint: /INTERSTICE_ALLOWED_HOSTS/ });
  t.equal(await health(stranger), status.PERMISSION_DENIED);
  t.equal(operations.preflights.length, 0);
  for (const authority of [undefined, 'localhost:1', 'own.example']) {
    const client = clientOf(t, port, authority);
    t.equal((await callRaw(client, 'GetServerInfo', new Uint8Array())).error, undefined, authority ?? 'its address');
    t.equal(await health(client), status.OK);
  }
});

t.test('a page that reaches the port is refused', async (t) => {
  const { client } = await openGrpc(t, { guard });
  const { error } = await callRaw(client, 'GetServerInfo', new Uint8Array(), {
    metadata: { origin: 'https://evil.example' },
  });
  t.equal(error?.code, status.PERMISSION_DENIED);
});
