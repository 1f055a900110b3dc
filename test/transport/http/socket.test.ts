import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { openDoor } from '../door.js';
import { fakeReport } from '../fake-answers.js';
import { hangingResolve } from '../fake-operations.js';
import { arraysRequest, form, startPart, targetPart } from '../fixtures.js';

async function listen(t: Test, maxMessageBytes?: number) {
  const door = await openDoor(t, maxMessageBytes);
  await door.app.listen({ host: '127.0.0.1', port: 0 });
  const address = door.app.server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const open = (options: { readonly allowHalfOpen?: boolean } = {}) => {
    const socket = connect({ port: address.port, host: '127.0.0.1', ...options });
    t.teardown(() => socket.destroy());
    return socket;
  };
  return { ...door, open, origin: `http://127.0.0.1:${address.port}` };
}

/** Everything the server says until it closes, or until the text holds what is waited for. */
function hear(socket: Socket, until?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until !== undefined && text.includes(until)) resolve(text);
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

const head = (lines: readonly string[], path = '/v1/resolve') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('\r\n')}\r\n\r\n`;
const body = JSON.stringify(arraysRequest());
const jsonHead = head(['content-type: application/json', `content-length: ${body.length}`]);

t.test('closing the connection aborts the operation', async (t) => {
  const { operations, open, state, lines } = await listen(t);
  const hanging = hangingResolve();
  operations.onResolve = hanging.resolve;
  const socket = open();
  socket.write(jsonHead + body);
  await hanging.begun;
  t.equal(operations.resolves[0]?.context.signal?.aborted, false, 'a body that was read is no hang-up');
  t.equal(state.inFlight, 1);
  socket.destroy();
  await hanging.aborted;
  await state.idle();
  t.equal(state.inFlight, 0);
  t.match(lines.at(-1), { msg: 'Request completed.', status: 499, code: 'CANCELLED' });
});

t.test('a session whose caller is gone before the answer is deleted, unless a key leads back to it', async (t) => {
  const { operations, open, state } = await listen(t);
  const names = () => operations.sessionCalls.map(({ call }) => call);
  const { mesh, start } = arraysRequest();
  const creation = (more: object) => {
    const text = JSON.stringify({ mesh, start, idleTimeout: '0s', ...more });
    const lines = ['content-type: application/json', `content-length: ${text.length}`, 'connection: close'];
    return head(lines, '/v1/sessions') + text;
  };
  const taken = open();
  taken.write(creation({}));
  t.match(await hear(taken), /^HTTP\/1\.1 201 /);
  await state.idle();
  t.same(names(), ['create'], 'an answer that was taken takes nothing back');
  for (const [more, calls] of [
    [{}, ['create', 'delete']],
    [{ idempotencyKey: 'mine' }, ['create']],
  ] as const) {
    operations.sessionCalls.length = 0;
    let gone: () => void = () => {};
    const isGone = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const socket = open();
    // The creation succeeds, but the connection is closed before its answer.
    operations.onCreate = async ({ signal }) => {
      socket.destroy();
      await once(signal!, 'abort');
      gone();
    };
    socket.write(creation(more));
    await isGone;
    await state.idle();
    // The handler goes on in later turns of the event loop.
    for (let turn = 0; turn < 8 || names().length < calls.length; turn++)
      await new Promise((resolve) => setImmediate(resolve));
    t.same(names(), calls, JSON.stringify(more));
  }
  operations.sessionCalls.splice(0);
});

t.test('an answer of which the caller takes only the beginning is logged as cancelled', async (t) => {
  const { operations, open, state, lines } = await listen(t);
  // More than the buffers of a connection take.
  operations.onResolve = async () => ({ positions: new Float32Array(2 ** 23), report: fakeReport() });
  const socket = open();
  const wanted = ['accept: application/x-protobuf', 'content-type: application/json', `content-length: ${body.length}`];
  socket.write(head(wanted) + body);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  await state.idle();
  t.match(lines.at(-1), { status: 499, code: 'CANCELLED' });
});

t.test('bytes that are no HTTP have a line in the log, and a flood of them few', async (t) => {
  const { app, open, lines } = await listen(t);
  const broken = async (text: string) => {
    const socket = open();
    socket.write(text);
    const answer = await hear(socket);
    t.match(answer, /^HTTP\/1.1 400 /);
    return JSON.parse(answer.slice(answer.indexOf('{')));
  };
  const { requestId, code } = await broken('secret nonsense\r\n\r\n');
  t.equal(code, 'MALFORMED_BODY');
  const first = { event: 'broken-request', requestId, status: 400, remote: /^127\.0\.0\.1:\d+$/ };
  t.match(lines, [{ ...first, msg: 'This is not a valid HTTP request.' }]);
  await broken('GET / HTTP/1.1\r\nhost: x\r\nexpect: tea\r\nconnection: close\r\n\r\n');
  t.match(lines.at(-1), { event: 'broken-request', msg: /header expect/ });
  const before = lines.length;
  // At once, so that no second ends meanwhile.
  for (let k = 0; k < 40; k++) app.server.emit('clientError', new Error('nonsense'), new PassThrough());
  t.ok(lines.length - before <= 10, `${lines.length - before} lines`);
  await app.close();
  const mine = lines.filter(({ event }) => event === 'broken-request');
  const single = mine.filter(({ remote }) => remote !== undefined).length;
  const summed = mine.flatMap(({ unlogged }) => Object.values((unlogged ?? {}) as Record<string, number>));
  t.equal(single + summed.reduce((sum, more) => sum + more, 0), 42, 'each is told, alone or in a sum');
  t.notMatch(JSON.stringify(lines), /secret|nonsense|tea/, 'nothing of what was sent');
});

t.test('a query that begins at a number sign is decoded, or refused, like any other', async (t) => {
  const { operations, open } = await listen(t);
  const ask = (query: string) => {
    const socket = open();
    socket.write(`GET /v1/sessions#label=${query} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    return hear(socket);
  };
  t.match(await ask('%ff'), /^HTTP\/1.1 400 .*The query parameter \\"label\\" is not valid/s);
  t.match(await ask('%41'), /^HTTP\/1.1 200 /);
  t.match(operations.sessionCalls[0]?.request, { label: 'A' });
});

t.test('an answered request is not aborted', async (t) => {
  const { operations, origin, lines } = await listen(t);
  const answer = await fetch(`${origin}/v1/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'r7' },
    body,
  });
  t.equal(answer.status, 200);
  await answer.text();
  t.equal(operations.resolves[0]?.context.signal?.aborted, false);
  t.match(lines.at(-1), { requestId: 'r7', method: 'POST', path: '/v1/resolve', status: 200, bytesIn: body.length });
  t.notMatch(JSON.stringify(lines), /triangles/, 'no payload in the log');
});

t.test('a body that comes in pieces is one body', async (t) => {
  const { open } = await listen(t);
  const socket = open();
  const answer = hear(socket, '"report"');
  const text = jsonHead + body;
  for (let i = 0; i < text.length; i += 7) {
    await new Promise((resolve) => socket.write(text.slice(i, i + 7), resolve));
  }
  t.match(await answer, /^HTTP\/1\.1 200/);
});

t.test('a caller that leaves in the middle of its body costs nothing', async (t) => {
  const { operations, open, state, origin } = await listen(t);
  const { payload, headers } = form([startPart, targetPart]);
  const formHead = head([`content-type: ${headers['content-type']}`, `content-length: ${payload.length}`]);
  for (const text of [jsonHead + body.slice(0, 20), formHead + payload.subarray(0, 120).toString('latin1')]) {
    const socket = open();
    await new Promise((resolve) => socket.write(text, resolve));
    // Only a request that has begun can be broken off.
    while (state.inFlight === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await state.idle();
  }
  t.equal(operations.resolves.length, 0);
  t.equal((await fetch(`${origin}/livez`)).status, 200);
});

t.test('a body beyond the limit is refused before it is read, announced or not', async (t) => {
  const { open } = await listen(t, 2048);
  const announced = open();
  announced.write(head(['content-type: application/json', 'content-length: 999999']));
  const refused = await hear(announced, '"pairCount"');
  t.match(refused, /^HTTP\/1\.1 413/);
  t.match(refused, /999999 bytes were sent/);

  const chunk = `400\r\n${' '.repeat(1024)}\r\n`;
  const unannounced = open();
  unannounced.write(head(['content-type: application/json', 'transfer-encoding: chunked']) + chunk.repeat(4));
  t.match(await hear(unannounced, '"pairCount"'), /^HTTP\/1\.1 413/);

  const boundary = 'b';
  const part = `--${boundary}\r\ncontent-disposition: form-data; name="start"; filename="a.obj"\r\n\r\n#`;
  const file = open();
  file.write(
    head([`content-type: multipart/form-data; boundary=${boundary}`, 'transfer-encoding: chunked']) +
      `${part.length.toString(16)}\r\n${part}\r\n${chunk.repeat(4)}`,
  );
  t.match(await hear(file, '"pairCount"'), /^HTTP\/1\.1 413/);
});

t.test('JSON has a limit of its own, and the refusal says what else to send', async (t) => {
  const { app, operations } = await openDoor(t, 65536, 2048);
  const payload = body.padEnd(2049);
  const post = (type: string, payload: string | Buffer) =>
    app.inject({ method: 'POST', url: '/v1/resolve', headers: { 'content-type': type }, payload });
  const refused = await post('application/json; charset=utf-8', payload);
  t.equal(refused.statusCode, 413);
  t.match(refused.json(), {
    code: 'TOO_LARGE',
    message: /JSON may have 2048 bytes, but 2049/,
    hint: /x-protobuf.*65536/,
  });
  t.equal(operations.resolves.length, 0);
  t.equal((await post('application/json', payload.slice(0, 2048))).statusCode, 200);
  const other = await post('application/x-protobuf', Buffer.alloc(2049));
  t.notMatch(other.json(), { code: 'TOO_LARGE' }, 'it is read, and is no message');
});

t.test('a connection survives a refused form', async (t) => {
  const { origin } = await listen(t);
  for (let i = 0; i < 3; i++) {
    const data = new FormData();
    data.append('wrong', new Blob(['x'.repeat(5000)]), 'x.obj');
    data.append('start', new Blob(['y'.repeat(20000)]), 'y.obj');
    const answer = await fetch(`${origin}/v1/resolve`, { method: 'POST', body: data });
    t.equal(answer.status, 400);
    t.match(await answer.json(), { code: 'UNKNOWN_FIELD' });
  }
});

t.test('refusals leave nothing on a connection that goes on', async (t) => {
  const { app, open } = await listen(t);
  const accepted = once(app.server, 'connection');
  const socket = open();
  const [server] = (await accepted) as [Socket];
  const counts: number[] = [];
  for (let i = 0; i < 4; i++) {
    const answer = hear(socket, '"pairCount"');
    socket.write(head(['content-type: application/json', 'content-encoding: gzip', 'content-length: 3000']));
    t.match(await answer, /^HTTP\/1\.1 415/);
    // While the rest of the body is awaited.
    counts.push(server.listenerCount('close'));
    socket.removeAllListeners('data').write(' '.repeat(3000));
  }
  t.same(counts, Array(4).fill(counts[0]));
});

t.test('bytes that are no HTTP are answered all the same', async (t) => {
  const { open } = await listen(t);
  const socket = open();
  socket.write('BLAH\r\n\r\n');
  const text = await hear(socket);
  t.match(text, /^HTTP\/1\.1 400 Bad Request/);
  t.match(text, /application\/problem\+json/);
  t.match(text, /"MALFORMED_BODY"/);
});

t.test('a request that ends in its middle is told from bytes that are no HTTP', async (t) => {
  const { operations, open, lines, state } = await listen(t);
  const broken = { event: 'broken-request', status: 400 };
  const cancelled = { path: '/v1/resolve', status: 499, code: 'CANCELLED' };
  for (const [text, told] of [
    [jsonHead + body.slice(0, -1), [broken, cancelled]],
    [jsonHead.slice(0, 30), [broken]],
  ] as const) {
    lines.length = 0;
    const socket = open();
    socket.end(text);
    t.match(await hear(socket), /^HTTP\/1\.1 400 [\s\S]*"MALFORMED_BODY"[\s\S]*The connection ended in the middle/);
    await state.idle();
    t.match(lines, told);
    t.equal(lines.length, told.length);
  }
  t.same(operations.resolves, []);
});

t.test(
  'a request that is refused before its body has arrived has one answer and one line, if the body ends in its middle',
  async (t) => {
    const { open, lines } = await listen(t);
    const socket = open({ allowHalfOpen: true });
    const refused = hear(socket, '"pairCount"');
    socket.write(head(['content-type: application/json', 'content-encoding: gzip', 'content-length: 3000']));
    t.match(await refused, /^HTTP\/1\.1 415 /);
    const others = hear(socket);
    socket.end('{');
    t.equal(await others, '', 'no other answer');
    t.match(lines, [{ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' }]);
    t.equal(lines.length, 1);
  },
);

t.test('what Node would answer by itself is answered with a document, too', async (t) => {
  const { open } = await listen(t);
  const hostless = open();
  hostless.write('GET /v1 HTTP/1.1\r\nconnection: close\r\n\r\n');
  t.match(await hear(hostless), /^HTTP\/1\.1 400 [\s\S]*problem\+json[\s\S]*"MALFORMED_BODY"/);
  const expecting = open();
  expecting.write(head(['content-type: application/json', 'content-length: 5', 'expect: a miracle']));
  t.match(await hear(expecting), /^HTTP\/1\.1 400 [\s\S]*problem\+json[\s\S]*"MALFORMED_BODY"/);
});

t.test('CONNECT is refused behind the answers to earlier requests, and its connection ends', async (t) => {
  const { open, lines } = await listen(t);
  const connecting = 'CONNECT elsewhere:443 HTTP/1.1\r\nhost: elsewhere:443\r\n\r\n';
  const socket = open();
  socket.write(connecting);
  t.match(await hear(socket), /^HTTP\/1\.1 405 [\s\S]*problem\+json[\s\S]*"METHOD_NOT_ALLOWED"[\s\S]*not a proxy/);
  t.match(lines.at(-1), { event: 'broken-request', status: 405 });
  const behind = open();
  behind.write(jsonHead + body + connecting);
  t.match(await hear(behind), /^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 405 /);
  const gone = open();
  gone.write(jsonHead + body + connecting);
  gone.resetAndDestroy();
  const after = open();
  after.write(connecting);
  t.match(await hear(after), /^HTTP\/1\.1 405 /, 'a connection that breaks meanwhile hurts nobody');
});

t.test('a head that says two things is refused, and so is an encoding of the transfer besides chunks', async (t) => {
  const { open, operations } = await listen(t);
  const send = (lines: readonly string[], text: string) => {
    const socket = open();
    socket.write(head(['content-type: application/json', ...lines]) + text);
    return hear(socket, '"pairCount"');
  };
  const length = `content-length: ${body.length}`;
  for (const [line, name] of [
    ['content-type: application/x-protobuf', 'content-type'],
    ['host: other', 'host'],
  ] as const) {
    t.match(await send([length, line], body), new RegExp(`^HTTP/1.1 400 [\\s\\S]*several headers ${name} that differ`));
  }
  const keys = ['authorization: Bearer a', 'authorization: Bearer b'];
  t.match(await send([length, ...keys], body), /^HTTP\/1\.1 400 [\s\S]*several headers authorization that differ/);
  const ask = (url: string) => {
    const socket = open();
    socket.write(`GET ${url} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    return hear(socket);
  };
  t.match(await ask('http://evil.example/v1'), /^HTTP\/1\.1 400 [\s\S]*name different hosts/);
  t.match(await ask('http://X/v1'), /^HTTP\/1\.1 200 /, 'the address that a client of a proxy writes');
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  t.match(await send(['transfer-encoding: gzip, chunked'], chunks), /^HTTP\/1\.1 415 [\s\S]*transfer-encoding/);
  t.equal(operations.resolves.length, 0);
  const same = open();
  same.write(head(['content-type: application/json', 'content-type: application/json', length]) + body);
  t.match(await hear(same, '"report"'), /^HTTP\/1\.1 200/);
  const chunked = open();
  chunked.write(head(['content-type: application/json', 'transfer-encoding: Chunked']) + chunks);
  t.match(await hear(chunked, '"report"'), /^HTTP\/1\.1 200/);
});

t.test('a part of a form without a name is refused', async (t) => {
  const { open } = await listen(t);
  const content =
    '--b\r\ncontent-disposition: form-data; \u0000ame="start"; filename="a.obj"\r\n\r\nv 0 0 0\r\n--b--\r\n';
  const socket = open();
  socket.write(head(['content-type: multipart/form-data; boundary=b', `content-length: ${content.length}`]) + content);
  t.match(await hear(socket, '"pairCount"'), /^HTTP\/1\.1 400 [\s\S]*"MALFORMED_BODY"/);
});
