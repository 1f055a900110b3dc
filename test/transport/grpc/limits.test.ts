import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import {
  channelOptions,
  RECEIVE_WINDOW_BYTES,
  widenConnections,
  widenStreams,
} from '../../../src/transport/grpc/channel-settings.js';
import { SERVICE } from '../../../src/transport/grpc/service.js';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { hangingResolve } from '../fake-operations.js';
import { callRaw, detailsOf, openGrpc, readDetails } from './door.js';

interface Trailers {
  readonly status: number;
  readonly message: string;
  readonly details: Buffer | undefined;
}

/** A call as bare HTTP/2, for what no gRPC library would send. Leaves the stream open unless `isWhole`. */
function bareCall(session: ClientHttp2Session, headers: Record<string, string>, body: Uint8Array, isWhole = true) {
  return new Promise<Trailers>((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': `/${SERVICE}/Resolve`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    const read = (given: Record<string, unknown>) => {
      if (given['grpc-status'] === undefined) return;
      const details = given['grpc-status-details-bin'];
      resolve({
        status: Number(given['grpc-status']),
        message: String(given['grpc-message']),
        details: details === undefined ? undefined : Buffer.from(String(details), 'base64'),
      });
      stream.close();
    };
    stream.on('response', read);
    stream.on('trailers', read);
    stream.on('error', reject);
    if (isWhole) stream.end(body);
    else stream.write(body);
  });
}

function frame(body: Uint8Array, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isCompressed ? 1 : 0);
  head.writeUInt32BE(body.byteLength, 1);
  return Buffer.concat([head, body]);
}

async function openSession(t: Test, port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`);
  t.teardown(() => session.destroy());
  await new Promise<void>((resolve) => session.once('remoteSettings', () => resolve()));
  return session;
}

t.test('a message beyond the limit is refused with its size', async (t) => {
  const { client, operations, lines, state } = await openGrpc(t, { maxMessageBytes: 1000 });
  const { error } = await callRaw(client, 'Resolve', new Uint8Array(1001));
  t.equal(error?.code, status.RESOURCE_EXHAUSTED);
  t.match(detailsOf(error).error, { code: 'TOO_LARGE', message: /may have 1000 bytes.*1001/ });
  t.equal(operations.resolves.length, 0);
  await state.idle();
  t.match(lines, [{ code: 'TOO_LARGE', status: 413 }]);
});

t.test('a length that lies is believed only up to the limit', async (t) => {
  const { port } = await openGrpc(t, { maxMessageBytes: 1000 });
  const session = await openSession(t, port);
  const lie = Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
  const answer = await bareCall(session, {}, lie, false);
  t.equal(answer.status, status.RESOURCE_EXHAUSTED);
  t.equal(readDetails(answer.details!).error.code, 'TOO_LARGE');
});

t.test('what unpacks to more than the limit is refused; what does not is read', async (t) => {
  const { port, operations } = await openGrpc(t, { maxMessageBytes: 100_000 });
  const session = await openSession(t, port);
  const bomb = Buffer.alloc(64 << 20);
  for (const [encoding, pack] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const) {
    const answer = await bareCall(session, { 'grpc-encoding': encoding }, frame(pack(bomb), true));
    t.equal(answer.status, status.RESOURCE_EXHAUSTED, encoding);
    t.match(readDetails(answer.details!).error, { code: 'TOO_LARGE', message: /100000/ });
    const small = await bareCall(session, { 'grpc-encoding': encoding }, frame(pack(Uint8Array.of(0x0a, 0xff)), true));
    t.equal(readDetails(small.details!).error.code, 'MALFORMED_BODY', 'it got as far as our decoder');
  }
  t.equal(operations.resolves.length, 0);
});

t.test('broken or unknown compression is refused', async (t) => {
  const { port } = await openGrpc(t);
  const session = await openSession(t, port);
  const broken = await bareCall(session, { 'grpc-encoding': 'gzip' }, frame(Buffer.from('no gzip at all'), true));
  t.equal(broken.status, status.INVALID_ARGUMENT);
  t.equal(readDetails(broken.details!).error.code, 'MALFORMED_BODY');
  const cut = gzipSync(Buffer.alloc(1000)).subarray(0, 15);
  const short = await bareCall(session, { 'grpc-encoding': 'gzip' }, frame(cut, true));
  t.equal(readDetails(short.details!).error.code, 'MALFORMED_BODY');
  const unknown = await bareCall(session, { 'grpc-encoding': 'snappy' }, frame(Buffer.from('x'), true));
  t.equal(unknown.status, status.UNIMPLEMENTED, 'as gRPC demands');
  t.equal(readDetails(unknown.details!).error.code, 'UNIMPLEMENTED');
});

t.test('calls that violate the gRPC protocol are refused', async (t) => {
  const { port, state } = await openGrpc(t);
  const session = await openSession(t, port);
  const none = await bareCall(session, {}, new Uint8Array());
  t.match(
    [none.status, readDetails(none.details!).error.code],
    [status.INVALID_ARGUMENT, 'MALFORMED_BODY'],
    'no message',
  );
  const time = await bareCall(session, { 'grpc-timeout': 'soon' }, frame(new Uint8Array()));
  t.match([time.status, readDetails(time.details!).error.code], [status.INVALID_ARGUMENT, 'MALFORMED_BODY'], 'timeout');
  await state.idle();
});

t.test('a deadline stops the work and ends the call with the details of any other refusal', async (t) => {
  const { port, operations, lines, state } = await openGrpc(t);
  const hanging = hangingResolve();
  operations.onResolve = hanging.resolve;
  const start = { data: new Float32Array(9) };
  const message = { mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) }, start, target: start };
  // Bare, for a gRPC client counts as well, and breaks the call off by itself if its clock was started earlier.
  const session = await openSession(t, port);
  const answer = bareCall(
    session,
    { 'grpc-timeout': '1000m', 'x-request-id': 'late' },
    frame(encodeMessage('ResolveRequest', message)),
  );
  await hanging.begun;
  await hanging.aborted;
  const { status: code, details } = await answer;
  t.equal(code, status.DEADLINE_EXCEEDED);
  t.match(readDetails(details!).error, { code: 'DEADLINE_EXCEEDED' });
  await state.idle();
  t.match(lines, [{ requestId: 'late', status: 504, code: 'DEADLINE_EXCEEDED' }]);
});

t.test('a deadline beyond what a timer takes does not end the call', async (t) => {
  const { port } = await openGrpc(t);
  const session = await openSession(t, port);
  for (const timeout of ['2592000S', '43200M', '99999999H']) {
    const stream = session.request({
      ':method': 'POST',
      ':path': `/${SERVICE}/StepStream`,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-timeout': timeout,
    });
    const trailers = once(stream, 'trailers');
    await once(stream, 'response');
    // A deadline that has passed ends the stream meanwhile.
    for (let i = 0; i < 10; i++) await bareCall(session, {}, frame(new Uint8Array()));
    stream.end();
    stream.resume();
    const [given] = await trailers;
    t.equal(Number(given['grpc-status']), status.OK, timeout);
  }
});

t.test('a message that does not arrive in time is refused', async (t) => {
  const { port, state } = await openGrpc(t, { uploadTimeoutMs: 50 });
  const session = await openSession(t, port);
  const answer = await bareCall(session, {}, frame(new Uint8Array(100)).subarray(0, 50), false);
  t.equal(answer.status, status.INVALID_ARGUMENT);
  t.match(readDetails(answer.details!).error, { code: 'MALFORMED_BODY', message: /not complete after 0\.05 s/ });
  await state.idle();
});

t.test('a call that its caller never ends holds neither memory nor a drain', async (t) => {
  const empty = new Uint8Array(0);
  const mesh = { vertexCount: 1, particles: Uint32Array.of(0) };
  const positions = { data: Float32Array.of(0, 0, 0) };
  const whole = frame(encodeMessage('ResolveRequest', { mesh, start: positions, target: positions }));
  const bodies = new BodyLedger(0);

  const late = await openGrpc(t, { uploadTimeoutMs: 50, bodies });
  const session = await openSession(t, late.port);
  const { status: code, details } = await bareCall(session, {}, whole, false);
  t.equal(code, status.INVALID_ARGUMENT);
  const { error } = readDetails(details!);
  t.match(error, { code: 'MALFORMED_BODY', message: /not complete after 0\.05 s/, hint: /end the sending half/ });
  await late.state.idle();
  t.equal(bodies.bytes, 0);
  t.equal(late.operations.resolves.length, 0);

  const over = await openGrpc(t, { bodies });
  const stream = (await openSession(t, over.port)).request({
    ':method': 'POST',
    ':path': `/${SERVICE}/Resolve`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.write(whole);
  while (bodies.bytes < whole.byteLength - 5) await new Promise((resolve) => setImmediate(resolve));
  over.state.refuseUnread();
  const [trailers] = await once(stream, 'response');
  t.equal(Number(trailers['grpc-status']), status.UNAVAILABLE);
  // An end that comes after the refusal begins nothing.
  stream.end(empty);
  stream.resume();
  await once(stream, 'close');
  await over.state.idle();
  t.equal(over.operations.resolves.length, 0);
});

t.test('clients may send a whole mesh ahead', async (t) => {
  const { port, lines } = await openGrpc(t);
  const session = await openSession(t, port);
  t.equal(session.remoteSettings.initialWindowSize, RECEIVE_WINDOW_BYTES, 'for each call');
  t.equal(session.remoteSettings.maxConcurrentStreams, 100);
  // The connection's own window is widened by a frame of its own, which comes before the answer to a ping.
  await new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())));
  t.equal(session.state.remoteWindowSize, RECEIVE_WINDOW_BYTES, 'for the connection');
  t.same(lines, [], 'no warning');
});

/** What a client of HTTP/2 begins with: the preface, and settings without any. */
const GREETING = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

t.test('a client that answers no ping is disconnected', async (t) => {
  const { port } = await openGrpc(t, { keepaliveMs: 50 });
  const socket = connectSocket(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.resume().write(GREETING);
  await once(socket, 'close');
});

t.test('the setting decides how long a client may leave a ping unanswered', async (t) => {
  const of = (keepaliveMs: number) => {
    const options = channelOptions({ maxMessageBytes: 1, keepaliveMs });
    return [options['grpc.keepalive_time_ms'], options['grpc.keepalive_timeout_ms']];
  };
  t.same(of(600_000), [60_000, 600_000], 'pings come more often than that');
  t.same(of(5000), [5000, 5000]);
  t.equal(of(0)[0], 0, 'no pings');
});

t.test('a library that has changed inside costs speed, not service', async (t) => {
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => void warnings.push(fields) } as never;
  widenStreams({} as never, log);
  widenConnections({} as never, log);
  t.same(warnings, [{ missing: 'commonServerOptions' }, { missing: 'http2Servers' }]);
});
