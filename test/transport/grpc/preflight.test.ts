import { type ClientHttp2Session, connect } from 'node:http2';
import { status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { SERVICE } from '../../../src/transport/grpc/service.js';
import { callRaw, detailsOf, openGrpc } from './door.js';

const full = () => new IntersticeError('QUEUE_FULL', '4 requests are waiting already', { retryAfterSeconds: 2.5 });

async function openSession(t: Test, port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`);
  t.teardown(() => session.destroy());
  await new Promise<void>((resolve) => session.once('remoteSettings', () => resolve()));
  return session;
}

t.test('what cannot be taken is refused on its metadata: no message is waited for', async (t) => {
  const { operations, port } = await openGrpc(t);
  operations.shut = full();
  const session = await openSession(t, port);
  const methods = { Resolve: 'resolve', Check: 'check', CreateSession: 'createSession', Step: 'step' };
  for (const method of Object.keys(methods)) {
    const stream = session.request({
      ':method': 'POST',
      ':path': `/${SERVICE}/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      'interstice-session': 'ab',
    });
    const headers = await new Promise<Record<string, unknown>>((resolve) => stream.on('response', resolve));
    t.match(headers, { 'grpc-status': String(status.RESOURCE_EXHAUSTED), 'retry-after': '3' }, method);
    stream.close();
  }
  t.match(
    operations.preflights.map(({ preflight }) => preflight),
    Object.values(methods).map((operation) => ({ operation, sessionId: 'ab' })),
  );
  t.equal(operations.resolves.length + operations.checks.length + operations.sessionCalls.length, 0);
});

t.test('a client with a large message finds the refusal, and its connection goes on', async (t) => {
  const { operations, client, state } = await openGrpc(t, { maxMessageBytes: 64 << 20 });
  operations.shut = full();
  for (let i = 0; i < 3; i++) {
    const { error } = await callRaw(client, 'Step', new Uint8Array(24 << 20));
    t.equal(error?.code, status.RESOURCE_EXHAUSTED);
    t.match(detailsOf(error).error, { code: 'QUEUE_FULL' });
    t.same(error?.metadata.get('retry-after'), ['3']);
  }
  await state.idle();
  operations.shut = undefined;
  t.equal((await callRaw(client, 'GetServerInfo', new Uint8Array())).error, undefined);
  await callRaw(client, 'Resolve', new Uint8Array());
  await state.idle();
  t.equal(operations.expected, 0);
});
