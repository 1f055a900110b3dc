import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import protobuf from 'protobufjs/minimal.js';
import t, { type Test } from 'tap';
import type { CallContext } from '../../../src/contract/call-context.js';
import { IntersticeError } from '../../../src/contract/errors.js';
import type { RequestLine } from '../../../src/observe/log.js';
import { buildHttpApp } from '../../../src/transport/http/app.js';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';
import type { WireMessage } from '../../../src/transport/messages/wire-message.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { ServiceState } from '../../../src/transport/service-state.js';
import { openDoor } from '../door.js';
import { fakeJob, fakeReport } from '../fake-answers.js';
import { FakeOperations, hangingResolve } from '../fake-operations.js';
import { arraysRequest, base64Of, form, startPart, TARGET, targetPart } from '../fixtures.js';

const LINES = { accept: 'application/x-ndjson' };
const DELIMITED = { accept: 'application/x-protobuf-delimited' };
const FIRST = { steps: 1, residual: 0.75, unfinishedVertices: 3 };
const target = Float32Array.from(TARGET);

const linesOf = (body: string): Record<string, unknown>[] => {
  if (!body.endsWith('\n')) throw new Error('the last line has no end');
  return body
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
};

/** Reads messages behind their lengths. */
function messagesOf(name: string, bytes: Uint8Array): WireMessage[] {
  const reader = protobuf.Reader.create(bytes);
  const messages: WireMessage[] = [];
  while (reader.pos < reader.len) messages.push(decodeMessage(name, reader.bytes()));
  return messages;
}

const pause = () => new Promise((resolve) => setImmediate(resolve));

/** A resolve and a step that tell of a step, and go on when what they have told was written. */
function tellOnce(operations: FakeOperations): void {
  const tell = async ({ onProgress }: CallContext) => {
    onProgress?.(FIRST);
    for (let turn = 0; turn < 10; turn++) await pause();
  };
  operations.onResolve = async (request, context) => {
    await tell(context);
    return { positions: request.target, report: fakeReport() };
  };
  operations.onStep = async (request, context) => {
    await tell(context);
    return { frame: 7n, positions: request.target!, report: fakeReport(), isReplay: false };
  };
}

t.test('a resolve in lines: progress, then the answer as it is in a plain answer', async (t) => {
  const { app, operations } = await openDoor(t);
  tellOnce(operations);
  const post = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/v1/resolve', payload: arraysRequest(), headers });
  const answer = await post(LINES);
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['content-type'], 'application/x-ndjson');
  t.match(answer.headers, { 'cache-control': 'no-store', 'x-request-id': /./, 'interstice-version': /./ });
  const [first, last, ...more] = linesOf(answer.body);
  t.same(first, { progress: FIRST });
  t.same(more, []);
  const plain = (await post({ accept: 'application/json' })).json();
  const { timings: _, ...report } = plain.report;
  t.match(last, { response: { ...plain, report } });
  t.same(Object.keys(last!.response as object).sort(), Object.keys(plain).sort());
});

t.test('an untangling in lines and messages: progress, then the answer as it is in a plain answer', async (t) => {
  const { app } = await openDoor(t);
  const ask = (headers: Record<string, string>, positions: object) =>
    app.inject({
      method: 'POST',
      url: '/v1/untangle',
      headers,
      payload: { mesh: { vertexCount: 3, triangles: base64Of(Uint32Array.of(0, 1, 2)) }, positions },
    });
  const progress = { phase: 'UNTANGLING', iteration: 1, pierces: '5', contours: 1, regionVertices: 3 };
  for (const data of [[...TARGET], base64Of(target)]) {
    const plain = (await ask({}, { data })).json();
    t.type(plain.positions.data, typeof data, 'as the request has it');
    const answer = await ask(LINES, { data });
    t.equal(answer.statusCode, 200);
    t.same(linesOf(answer.body), [{ progress }, { response: plain }]);
  }
  const { rawPayload } = await ask(DELIMITED, { data: base64Of(target) });
  const [first, last, ...others] = messagesOf('UntangleStreamResponse', rawPayload);
  t.match(first, { progress: { iteration: 1 } });
  const { data } = (last!.response as WireMessage).positions as { readonly data: Uint8Array };
  t.same([...new Float32Array(new Uint8Array(data).buffer)], TARGET);
  t.same(others, []);
});

t.test('a step from bare positions is streamed as length-delimited messages', async (t) => {
  const { app, operations } = await openDoor(t);
  tellOnce(operations);
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/sessions/abc/steps?frame=7',
    headers: { ...DELIMITED, 'content-type': 'application/octet-stream' },
    payload: Buffer.from(target.buffer),
  });
  t.equal(answer.headers['content-type'], 'application/x-protobuf-delimited');
  const [first, last, ...more] = messagesOf('StepStreamResponse', answer.rawPayload);
  t.match(first, { progress: FIRST });
  t.match(last, { response: { frame: 7n, report: { steps: 7 } } });
  t.same(more, []);
  const asLines = await app.inject({
    method: 'POST',
    url: '/v1/sessions/abc/steps',
    headers: LINES,
    payload: { target: { data: base64Of(target) }, include: { progress: true, contacts: true } },
  });
  t.match(linesOf(asLines.body), [
    { sequence: '0', progress: FIRST },
    { sequence: '0', response: { frame: '7', positions: { data: base64Of(target) } } },
  ]);
});

t.test('a form with files is answered with lines', async (t) => {
  const { app, operations } = await openDoor(t);
  tellOnce(operations);
  const options = { name: 'options', body: '{"include":{"progress":true}}' };
  const { payload, headers } = form([startPart, targetPart, options]);
  const answer = await app.inject({ method: 'POST', url: '/v1/resolve', payload, headers: { ...headers, ...LINES } });
  t.match(linesOf(answer.body), [{ progress: FIRST }, { response: { report: { steps: 7 } } }]);
});

t.test(
  'a refusal before the first message is a problem with its status, one after it is the last message',
  async (t) => {
    const { app, operations } = await openDoor(t);
    const post = () => app.inject({ method: 'POST', url: '/v1/resolve', payload: arraysRequest(), headers: LINES });
    operations.failure = new IntersticeError('QUEUE_FULL', 'Full.', { retryAfterSeconds: 2 });
    const early = await post();
    t.match([early.statusCode, early.headers['retry-after'], early.json().code], [429, '2', 'QUEUE_FULL']);
    operations.failure = undefined;
    for (const [thrown, code] of [
      [new IntersticeError('DEADLINE_EXCEEDED', 'Late.'), 'DEADLINE_EXCEEDED'],
      [new Error('secret'), 'INTERNAL'],
    ] as const) {
      operations.onResolve = async (_request, { onProgress }) => {
        onProgress?.(FIRST);
        await pause();
        throw thrown;
      };
      const late = await post();
      t.equal(late.statusCode, 200);
      const [, last] = linesOf(late.body);
      t.match(last, { error: { code, requestId: late.headers['x-request-id'], retryable: false } });
      t.notMatch(late.body, 'secret');
    }
  },
);

t.test('operations without a stream refuse one, and other media types are not streams', async (t) => {
  const { app, operations } = await openDoor(t);
  const check = { mesh: arraysRequest().mesh, positions: arraysRequest().start };
  const refused = await app.inject({ method: 'POST', url: '/v1/check', payload: check, headers: LINES });
  t.equal(refused.statusCode, 406);
  const payload = { ...arraysRequest(), include: { progress: true } };
  const plain = await app.inject({ method: 'POST', url: '/v1/resolve', payload });
  t.match([plain.statusCode, plain.json().code], [400, 'INVALID_PARAMETER'], 'progress needs a stream');
  t.equal(operations.resolves.length, 0);
  const any = await app.inject({
    method: 'POST',
    url: '/v1/resolve',
    payload: arraysRequest(),
    headers: { accept: '*/*' },
  });
  t.match(any.headers['content-type'], /^application\/json/, 'nobody gets a stream who has not asked for one');
});

t.test('a job is watched: as it is, at its changes, and at its end', async (t) => {
  const { app, operations } = await openDoor(t);
  const url = '/v1/jobs/fedc/watch';
  const watched = await app.inject({ url });
  t.match(linesOf(watched.body), [{ job: { state: 'JOB_RUNNING' } }, { job: { state: 'JOB_DONE' } }]);
  t.match(operations.sessionCalls[0], { call: 'watchJob', request: { jobId: 'fedc' } });
  const binary = await app.inject({ url, headers: DELIMITED });
  t.match(messagesOf('WatchJobResponse', binary.rawPayload), [{ job: { state: 2 } }, { job: { state: 3 } }]);
  operations.failure = new IntersticeError('JOB_NOT_FOUND', 'There is no such job.');
  t.equal((await app.inject({ url })).statusCode, 404);
  t.equal((await app.inject({ url, headers: { accept: 'application/json' } })).statusCode, 406);
});

/** A door that listens, and says something at least every 20 ms. */
async function openPort(t: Test) {
  const operations = new FakeOperations();
  const lines: RequestLine[] = [];
  const state = new ServiceState();
  state.move('ready', 'The service takes requests.');
  const app = await buildHttpApp({
    operations,
    state,
    maxMessageBytes: 1 << 20,
    bodies: new BodyLedger(0),
    log: pino({ level: 'silent' }),
    onAnswered: (line) => void lines.push(line),
    heartbeatMs: 20,
  });
  const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  t.teardown(() => app.close());
  return { operations, address, lines };
}

t.test('a long silence is broken: the last message again, or one without a result', async (t) => {
  const { operations, address, lines } = await openPort(t);
  let go: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  operations.onResolve = async (request, { onProgress }) => {
    await gate;
    onProgress?.(FIRST);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { positions: request.target, report: fakeReport() };
  };
  const post = () =>
    fetch(new URL('/v1/resolve', address), {
      method: 'POST',
      headers: { ...LINES, 'content-type': 'application/json' },
      body: JSON.stringify(arraysRequest()),
    });
  const answer = await post();
  t.equal(answer.status, 200, 'the head comes with the first message');
  go();
  const messages = linesOf(await answer.text());
  t.same(messages[0], {});
  t.same(messages.at(-2), { progress: FIRST });
  t.ok(messages.filter((message) => 'progress' in message).length >= 2, 'progress is repeated');
  t.ok('response' in messages.at(-1)!);
  operations.onResolve = async (_request, { onProgress }) => {
    onProgress?.(FIRST);
    throw new IntersticeError('DEADLINE_EXCEEDED', 'Late.');
  };
  await (await post()).text();
  while (lines.length < 2) await pause();
  t.match(
    lines,
    [
      { status: 200, code: undefined },
      { status: 200, code: 'DEADLINE_EXCEEDED' },
    ],
    'both are logged',
  );
});

t.test('closing the connection in the middle of a stream cancels the request', async (t) => {
  const { operations, address } = await openPort(t);
  const { begun, aborted, resolve } = hangingResolve();
  operations.onResolve = (request, context) => {
    context.onProgress?.(FIRST);
    return resolve(request, context);
  };
  const body = JSON.stringify(arraysRequest());
  const socket = connect(Number(address.port), '127.0.0.1');
  socket.write(
    `POST /v1/resolve HTTP/1.1\r\nhost: ${address.host}\r\naccept: application/x-ndjson\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await begun;
  const [head] = (await once(socket, 'data')) as [Buffer];
  t.match(head.toString(), /^HTTP\/1.1 200/);
  socket.destroy();
  await aborted;
  operations.onWatch = ({ onJob, signal }) => {
    onJob?.(fakeJob());
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new IntersticeError('CANCELLED', 'Gone.')), { once: true });
    });
  };
  const stop = new AbortController();
  const watching = await fetch(new URL('/v1/jobs/fedc/watch', address), { signal: stop.signal });
  stop.abort();
  await t.rejects(watching.text());
});
