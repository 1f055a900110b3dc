import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import type { StepAnswer } from '../../../src/contract/sessions.js';
import { SERVICE } from '../../../src/transport/grpc/service.js';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';
import { ConnectionCap } from '../../../src/transport/intake/connection-cap.js';
import { DISCARD_LIMITS } from '../../../src/transport/intake/discarding.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { fakeReport } from '../fake-answers.js';
import { callRaw, deferred, openGrpc, readDetails, TestStream } from './door.js';

const MiB = 1 << 20;
const RESOLVE = `/${SERVICE}/Resolve`;
const STEP_STREAM = `/${SERVICE}/StepStream`;

/** A door whose ledger holds 8 MiB, and a connection of bare HTTP/2 to it. */
async function open(t: Test, stallMs = 300_000, answerStallMs = 300_000, discardBytes = DISCARD_LIMITS.bytes) {
  const bodies = new BodyLedger(8 * MiB);
  const arrivalTimes = { stallMs, uploadMs: 300_000 };
  const discardLimits = { ...DISCARD_LIMITS, bytes: discardBytes };
  const door = await openGrpc(t, { bodies, arrivalTimes, answerStallMs, discardLimits, maxMessageBytes: 64 * MiB });
  // A client of Node stores no headers of answers while 10 MB, by default, wait to be written.
  const session = connect(`http://127.0.0.1:${door.port}`, { maxSessionMemory: 1000 });
  t.teardown(() => session.destroy());
  await new Promise<void>((resolve) => session.once('remoteSettings', () => resolve()));
  return { ...door, bodies, session };
}

function prefix(bytes: number, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isCompressed ? 1 : 0);
  head.writeUInt32BE(bytes, 1);
  return head;
}

interface Call {
  readonly stream: ClientHttp2Stream;
  /** Code of the error that ends the call. */
  readonly refusal: Promise<{ status: number; code: unknown; message: unknown; retryAfter: unknown }>;
  readonly closed: Promise<void>;
}

function begin(session: ClientHttp2Session, path = RESOLVE, headers: Record<string, string> = {}): Call {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  stream.on('error', () => {});
  stream.resume();
  const refusal = new Promise<Awaited<Call['refusal']>>((resolve) => {
    const read = (given: Record<string, unknown>) => {
      if (given['grpc-status'] === undefined) return;
      const details = given['grpc-status-details-bin'];
      const error = details === undefined ? {} : readDetails(Buffer.from(String(details), 'base64')).error;
      const { code, message } = error as { code?: unknown; message?: unknown };
      resolve({ status: Number(given['grpc-status']), code, message, retryAfter: given['retry-after'] });
    };
    stream.on('response', read);
    stream.on('trailers', read);
  });
  const closed = new Promise<void>((resolve) => stream.on('close', () => resolve()));
  return { stream, refusal, closed };
}

/** Waits until the condition holds, by looking at every turn of the event loop. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

t.test('messages are charged by their length prefixes, and refused before they arrive', async (t) => {
  const { session, bodies, client, state } = await open(t);
  const calls = Array.from({ length: 40 }, () => begin(session));
  for (const { stream } of calls) stream.write(prefix(MiB));
  const refused = await Promise.all(calls.slice(4).map(({ refusal }) => refusal));
  for (const one of refused) {
    t.match(one, { status: status.RESOURCE_EXHAUSTED, code: 'QUEUE_FULL', retryAfter: '1' });
    t.match(one.message, /body of 1048576 bytes.*8388608/);
  }
  t.equal(bodies.bytes, 4 * MiB, 'half of the capacity, the share of one address');
  const small = encodeMessage('StepRequest', { sessionId: 'f'.repeat(32), target: { data: Float32Array.of(1, 2, 3) } });
  t.equal((await callRaw(client, 'Step', small)).error, undefined, 'a small call beside them');
  session.destroy();
  await until(() => bodies.bytes === 0);
  await state.idle();
});

t.test('on a busy connection every client reads why it is refused', async (t) => {
  const { session, bodies } = await open(t);
  const calls = Array.from({ length: 20 }, () => begin(session));
  const chunk = Buffer.alloc(MiB);
  for (const { stream } of calls) {
    let sent = 0;
    const sendOn = () => {
      if (sent++ < 12 && !stream.closed) stream.write(chunk, sendOn);
    };
    stream.write(prefix(12 * MiB), sendOn);
  }
  const refused = await Promise.all(calls.slice(1).map(({ refusal }) => refusal));
  for (const one of refused) t.match(one, { status: status.RESOURCE_EXHAUSTED, code: 'QUEUE_FULL' });
  session.destroy();
  await until(() => bodies.bytes === 0);
});

t.test('a refused client is told to stop, and its connection goes on', async (t) => {
  const { session, bodies } = await open(t);
  const [first, second] = [begin(session), begin(session)];
  for (const { stream } of [first, second]) {
    stream.write(prefix(3 * MiB));
    stream.write(Buffer.alloc(MiB));
  }
  t.match(await second.refusal, { code: 'QUEUE_FULL' });
  await second.closed;
  t.equal(second.stream.rstCode, 0);
  await until(() => bodies.bytes === 3 * MiB);
  first.stream.end(Buffer.alloc(2 * MiB));
  t.match(await first.refusal, { code: 'MALFORMED_BODY' }, 'complete, and no message');
  await until(() => bodies.bytes === 0);
  const third = begin(session, `/${SERVICE}/GetServerInfo`);
  third.stream.end(prefix(0));
  t.match(await third.refusal, { status: 0 });
});

t.test('a compressed message is stopped when it exceeds the room', async (t) => {
  const { session, bodies } = await open(t);
  const other = begin(session);
  other.stream.write(prefix(3 * MiB));
  await until(() => bodies.bytes === 3 * MiB);
  let most = 0;
  const charge = bodies.charge.bind(bodies);
  bodies.charge = (...given) => {
    charge(...given);
    most = Math.max(most, bodies.bytes);
  };
  const packed = gzipSync(Buffer.alloc(32 * MiB));
  const bomb = begin(session, RESOLVE, { 'grpc-encoding': 'gzip' });
  bomb.stream.end(Buffer.concat([prefix(packed.byteLength, true), packed]));
  t.match(await bomb.refusal, { status: status.RESOURCE_EXHAUSTED, code: 'QUEUE_FULL' });
  t.ok(most > 3 * MiB && most <= 7 * MiB, `${most} bytes at most`);
  await until(() => bodies.bytes === 3 * MiB);
  other.stream.close();
  await until(() => bodies.bytes === 0);
});

t.test('a stream is charged for its unanswered messages, read or not', async (t) => {
  const { client, bodies, operations } = await open(t);
  const steps: (() => void)[] = [];
  operations.onStep = (request) => {
    const { promise, resolve } = deferred<StepAnswer>();
    const positions = new Float32Array(3);
    steps.push(() => resolve({ frame: request.frame ?? 0n, positions, report: fakeReport(), isReplay: false }));
    return promise;
  };
  const stream = new TestStream(client);
  const message = { sessionId: 'f'.repeat(32), target: { data: new Float32Array(30_000) } };
  const bytes = encodeMessage('StepRequest', { ...message, frame: 1 }).byteLength;
  for (let frame = 1; frame <= 6; frame++) stream.send({ ...message, frame });
  await until(() => bodies.bytes === 6 * bytes);
  t.equal(steps.length, 4, 'two wait in the stream');
  for (let answered = 1; answered <= 6; answered++) {
    await until(() => steps.length > 0);
    steps.shift()!();
    await stream.until(answered);
    await until(() => bodies.bytes === (6 - answered) * bytes);
  }
  stream.call.end();
  t.equal(await stream.ended, undefined);
});

t.test('a message that stalls is given up', async (t) => {
  const { session, bodies, state } = await open(t, 50);
  const call = begin(session);
  call.stream.write(prefix(MiB));
  t.match(await call.refusal, { code: 'MALFORMED_BODY', message: /incomplete: no byte has arrived for 0\.05 s/ });
  await call.closed;
  await until(() => bodies.bytes === 0);
  await state.idle();
});

t.test('health and reflection, which need no key, take small messages only', async (t) => {
  const { session, bodies } = await open(t);
  for (const path of ['/grpc.health.v1.Health/Check', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo']) {
    const call = begin(session, path);
    call.stream.write(prefix(MiB));
    t.match(await call.refusal, { status: status.RESOURCE_EXHAUSTED }, path);
    const packed = gzipSync(Buffer.alloc(MiB));
    const bomb = begin(session, path, { 'grpc-encoding': 'gzip' });
    bomb.stream.end(Buffer.concat([prefix(packed.byteLength, true), packed]));
    t.match(await bomb.refusal, { status: status.RESOURCE_EXHAUSTED }, path);
  }
  await until(() => bodies.bytes === 0);
});

t.test('a call to an unknown path keeps no memory', async (t) => {
  const { session, bodies } = await open(t);
  const call = begin(session, '/no.Such/Method');
  call.stream.write(prefix(MiB));
  call.stream.write(Buffer.alloc(100_000));
  t.match(await call.refusal, { status: status.UNIMPLEMENTED });
  await call.closed;
  t.equal(bodies.bytes, 0);
});

t.test('a stream whose client does not read its answers is reset, an idle one is not', async (t) => {
  const { session, bodies, operations, client, lines } = await open(t, 300_000, 100);
  let count = 3;
  operations.onStep = async () => {
    const positions = new Float32Array(count);
    return { frame: 1n, positions, report: fakeReport(), isReplay: false };
  };
  const step = encodeMessage('StepRequest', { sessionId: 'f'.repeat(32), target: { data: Float32Array.of(1, 2, 3) } });
  const idle = new TestStream(client);
  idle.send({ sessionId: 'f'.repeat(32), target: { data: Float32Array.of(1, 2, 3) } });
  await idle.until(1);
  count = 4 * MiB;
  for (const method of ['Step', 'StepStream']) {
    const { stream, closed } = begin(session, `/${SERVICE}/${method}`);
    stream.pause();
    stream.write(Buffer.concat([prefix(step.byteLength), step]));
    if (method === 'Step') stream.end();
    await until(() => bodies.bytes > 0);
    await until(() => bodies.bytes === 0);
    stream.resume();
    await closed;
    t.not(stream.rstCode, 0, method);
    if (method === 'Step') t.match(lines.at(-1), { status: 499, code: 'CANCELLED' });
  }
  count = 3;
  idle.send({ sessionId: 'f'.repeat(32), target: { data: Float32Array.of(1, 2, 3) } });
  t.equal((await idle.until(2)).length, 2);
  idle.call.end();
  t.equal(await idle.ended, undefined);
});

t.test('a step without room is refused in its stream, which goes on', async (t) => {
  const { client, bodies, session } = await open(t);
  const other = begin(session);
  other.stream.write(prefix(4 * MiB));
  await until(() => bodies.bytes === 4 * MiB);
  const stream = new TestStream(client);
  const step = (vertices: number) => ({ sessionId: 'f'.repeat(32), target: { data: new Float32Array(3 * vertices) } });
  stream.send(step(1));
  await stream.until(1);
  stream.send(step(300_000));
  stream.send(step(1));
  const messages = await stream.until(3);
  t.match(messages[1], {
    sequence: 1n,
    error: { code: 'QUEUE_FULL', retryable: true, message: /body of 3600044 bytes/ },
  });
  t.match(messages[2], { sequence: 2n, response: {} });
  other.stream.close();
  await until(() => bodies.bytes === 0);
  stream.send(step(300_000));
  t.match((await stream.until(4))[3], { sequence: 3n, response: {} });
  stream.call.end();
  t.equal(await stream.ended, undefined);
});

t.test('a packed step that unpacks beyond the room is refused in its stream as well', async (t) => {
  const { session, bodies } = await open(t);
  const other = begin(session);
  other.stream.write(prefix(3 * MiB));
  await until(() => bodies.bytes === 3 * MiB);
  const packed = gzipSync(Buffer.alloc(32 * MiB));
  const { stream, refusal } = begin(session, `/${SERVICE}/StepStream`, { 'grpc-encoding': 'gzip' });
  const answered = new Promise<Buffer>((resolve) => stream.on('data', resolve));
  stream.write(Buffer.concat([prefix(packed.byteLength, true), packed]));
  t.match((await answered).toString('latin1'), /QUEUE_FULL/);
  await until(() => bodies.bytes === 3 * MiB);
  stream.end();
  t.match(await refusal, { status: 0 });
  other.stream.close();
});

t.test('a step too large to be dropped ends its stream', async (t) => {
  const { session, bodies } = await open(t, 300_000, 300_000, 2 * MiB);
  const other = begin(session);
  other.stream.write(prefix(4 * MiB));
  await until(() => bodies.bytes === 4 * MiB);
  const { stream, refusal } = begin(session, `/${SERVICE}/StepStream`);
  stream.write(prefix(3 * MiB));
  t.match(await refusal, { code: 'QUEUE_FULL' });
  other.stream.close();
});

t.test('what a refused call may still send is bounded', async (t) => {
  const { session, bodies } = await open(t, 300_000, 300_000, 2 * MiB);
  const other = begin(session);
  other.stream.write(prefix(4 * MiB));
  await until(() => bodies.bytes === 4 * MiB);
  const { stream, refusal, closed } = begin(session);
  let sent = 0;
  const sendOn = () => {
    sent += MiB;
    stream.write(Buffer.alloc(MiB), (error) => {
      if (!error && sent < 60 * MiB) sendOn();
    });
  };
  stream.write(prefix(60 * MiB));
  sendOn();
  t.match(await refusal, { code: 'QUEUE_FULL' });
  await closed;
  // The window of a call is 8 MiB, and Node takes some of it before it is told to stop.
  t.ok(sent <= 2 * MiB + 2 * 8 * MiB, `${sent} bytes were taken`);
  other.stream.close();
});

t.test('a connection that broke a rule of HTTP/2 gives back its bodies and its place', async (t) => {
  const connections = new ConnectionCap({ maxConnections: 10, maxPerAddress: 10 });
  const bodies = new BodyLedger(8 * MiB);
  const arrivalTimes = { stallMs: 100, uploadMs: 300_000 };
  const door = await openGrpc(t, { bodies, arrivalTimes, answerStallMs: 100, connections, maxMessageBytes: 64 * MiB });
  for (const path of [RESOLVE, STEP_STREAM]) {
    const socket = connectSocket(door.port, '127.0.0.1');
    const session = connect(`http://127.0.0.1:${door.port}`, { createConnection: () => socket });
    t.teardown(() => session.destroy());
    session.on('error', () => {});
    begin(session, path).stream.write(prefix(MiB));
    await until(() => bodies.bytes === MiB);
    // A ping has eight bytes, not one. Node reads and writes nothing more on this connection, and does not close it either.
    socket.write(Buffer.from([0, 0, 1, 6, 0, 0, 0, 0, 0, 0]));
    await until(() => bodies.bytes === 0 && connections.countOf('grpc') === 0);
  }
  await door.state.idle();
});
