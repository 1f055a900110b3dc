import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';
import { DISCARD_LIMITS } from '../../../src/transport/intake/discarding.js';
import { openDoor } from '../door.js';
import { fakeReport } from '../fake-answers.js';
import { arraysRequest } from '../fixtures.js';

const MiB = 1 << 20;
const TIMES = { stallMs: 300_000, uploadMs: 300_000 };

async function listen(
  t: Test,
  capacity: number,
  arrivalTimes = TIMES,
  answerStallMs = 300_000,
  discardLimits = DISCARD_LIMITS,
) {
  const bodies = new BodyLedger(capacity);
  const door = await openDoor(t, 64 * MiB, undefined, {}, { bodies, arrivalTimes, answerStallMs, discardLimits });
  await door.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = door.app.server.address() as { port: number };
  /** A connection that has sent these words and remembers what it hears. */
  const talk = (...words: (string | Uint8Array)[]) => {
    const socket = connect(port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    let text = '';
    const waiting: (() => void)[] = [];
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (const wake of waiting.splice(0)) wake();
    });
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    for (const word of words) socket.write(word);
    /** All that was heard, once it contains the words. */
    const heard = async (until: string): Promise<string> => {
      while (!text.includes(until)) await new Promise<void>((resolve) => waiting.push(resolve));
      return text;
    };
    return { socket, heard, closed };
  };
  const post = () =>
    fetch(`http://127.0.0.1:${port}/v1/resolve`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(arraysRequest()),
    });
  return { ...door, talk, post };
}

const head = (...lines: string[]) =>
  `${['POST /v1/resolve HTTP/1.1', 'host: x', 'content-type: application/x-protobuf', ...lines].join('\r\n')}\r\n\r\n`;
const announced = (bytes: number, ...lines: string[]) => head(`content-length: ${bytes}`, ...lines);
const CHUNKED = head('transfer-encoding: chunked');
const chunk = (bytes: number) => [`${bytes.toString(16)}\r\n`, new Uint8Array(bytes), '\r\n'];

/** Waits until the condition holds, by looking at every turn of the event loop. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

t.test('announced bodies are charged by their heads for as long as they do not come', async (t) => {
  const { talk, bodies, post } = await listen(t, 8 * MiB);
  const first = talk(announced(3 * MiB));
  await until(() => bodies.bytes === 3 * MiB);
  const second = talk(announced(3 * MiB));
  const refusal = await second.heard('"retryAfter"');
  t.match(refusal, /^HTTP\/1\.1 429 [\s\S]*"code":"QUEUE_FULL"/);
  t.match(refusal, /\r\nretry-after: 1\r\n/i);
  t.equal(bodies.bytes, 3 * MiB);
  t.equal((await post()).status, 200, 'a small request beside them');
  await until(() => bodies.bytes === 3 * MiB);
  first.socket.destroy();
  await until(() => bodies.bytes === 0);
  const third = talk(announced(3 * MiB));
  await until(() => bodies.bytes === 3 * MiB);
  third.socket.destroy();
  await until(() => bodies.bytes === 0);
});

t.test('expect: 100-continue is not answered where there is no room', async (t) => {
  const { talk, bodies } = await listen(t, 8 * MiB);
  talk(announced(4 * MiB));
  await until(() => bodies.bytes === 4 * MiB);
  t.match(await talk(announced(3 * MiB, 'expect: 100-continue')).heard('"retryAfter"'), /^HTTP\/1\.1 429 /);
});

t.test('a chunked body is charged with the bytes that have arrived, and may be refused meanwhile', async (t) => {
  const { talk, bodies, post } = await listen(t, 8 * MiB);
  const first = talk(CHUNKED, ...chunk(3 * MiB));
  await until(() => bodies.bytes >= 3 * MiB);
  const second = talk(CHUNKED, ...chunk(3 * MiB));
  t.match(await second.heard('"retryAfter"'), /^HTTP\/1\.1 429 [\s\S]*"code":"QUEUE_FULL"/);
  await until(() => bodies.bytes === 3 * MiB);
  t.equal((await post()).status, 200);
  // The rest of the refused body is read and discarded, and then the connection ends: nobody knew how long the body would be.
  const { socket, heard, closed } = second;
  t.match(await heard('"retryAfter"'), /\r\nconnection: close\r\n/i);
  for (const word of [...chunk(2 * MiB), '0\r\n\r\n']) socket.write(word);
  await closed;
  first.socket.destroy();
  await until(() => bodies.bytes === 0);
});

t.test('a form is charged like any other body', async (t) => {
  const { talk, bodies } = await listen(t, 8 * MiB);
  const start = [
    'POST /v1/resolve HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ntransfer-encoding: chunked\r\n\r\n',
    '60\r\n',
    '--b\r\ncontent-disposition: form-data; name="start"; filename="a.obj"\r\n\r\n'.padEnd(0x60, '#'),
    '\r\n',
  ];
  const comment = (bytes: number) => [`${bytes.toString(16)}\r\n`, Buffer.alloc(bytes, '#\n'), '\r\n'];
  const first = talk(...start, ...comment(3 * MiB));
  await until(() => bodies.bytes >= 2.9 * MiB);
  const second = talk(...start, ...comment(3 * MiB));
  t.match(await second.heard('"retryAfter"'), /^HTTP\/1\.1 429 /);
  for (const { socket } of [first, second]) socket.destroy();
  await until(() => bodies.bytes === 0);
});

t.test('the arrays of an unfinished form are charged as they grow', async (t) => {
  const { talk, bodies } = await listen(t, 160 * 1024);
  const head = '--b\r\ncontent-disposition: form-data; name="start"; filename="a.obj"\r\n\r\n';
  // The numbers of a line take 24 bytes, those of a face 28.
  const text = `${head}${'v 0 0 0\n'.repeat(1000)}${'f 1 2 3\n'.repeat(1900)}`;
  const arrays = 24 * 1000 + 28 * 1900;
  const unfinished = [
    'POST /v1/resolve HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ntransfer-encoding: chunked\r\n\r\n',
    `${text.length.toString(16)}\r\n${text}\r\n`,
  ];
  const first = talk(...unfinished);
  // The last line may still be incomplete.
  await until(() => bodies.bytes >= arrays - 28);
  const second = talk(...unfinished);
  t.match(await second.heard('"retryAfter"'), /^HTTP\/1\.1 429 [\s\S]*"code":"QUEUE_FULL"/);
  for (const { socket } of [first, second]) socket.destroy();
  await until(() => bodies.bytes === 0);
});

t.test('what a form keeps of a file besides its mesh is charged, too', async (t) => {
  const { talk, bodies } = await listen(t, 8 * MiB);
  const normals = 'vn 0 0 1\n'.repeat(6000);
  const obj = `${'v 0 0 0\n'.repeat(1000)}${normals}`;
  const rows = '0 0 0 1 2 3\n'.repeat(900);
  const properties = ['x', 'y', 'z', 'nx', 'ny', 'nz'].map((name) => `property double ${name}`).join('\n');
  const ply = `ply\nformat ascii 1.0\nelement vertex 901\n${properties}\nend_header\n${rows}`;
  for (const [name, file, arrays, kept] of [
    ['a.obj', obj, 24 * 1000, 2 * 1000 + normals.length],
    ['a.ply', ply, 24 * 900, rows.length],
  ] as const) {
    const text = `--b\r\ncontent-disposition: form-data; name="start"; filename="${name}"\r\n\r\n${file}`;
    const { socket } = talk(
      'POST /v1/resolve HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ntransfer-encoding: chunked\r\n\r\n',
      `${text.length.toString(16)}\r\n${text}\r\n`,
    );
    t.ok(arrays + kept > 1.1 * Math.max(arrays, text.length));
    // The last line may still be incomplete.
    await until(() => bodies.bytes >= arrays + kept - 64);
    t.ok(bodies.bytes <= arrays + kept, `${name}: ${bodies.bytes} bytes`);
    socket.destroy();
    await until(() => bodies.bytes === 0);
  }
});

t.test('a body that stalls is given up, and its room is free', async (t) => {
  for (const words of [
    [announced(MiB), new Uint8Array(1000)],
    [CHUNKED, ...chunk(1000)],
    [
      announced(MiB).replace('application/x-protobuf', 'multipart/form-data; boundary=b'),
      '--b\r\ncontent-disposition: form-data; name="start"; filename="a.obj"\r\n\r\n#',
    ],
  ]) {
    const { talk, bodies } = await listen(t, 8 * MiB, { ...TIMES, stallMs: 50 });
    const text = await talk(...words).heard('"requestId"');
    t.match(text, /^HTTP\/1\.1 400 [\s\S]*incomplete: no byte has arrived for 0\.05 s/);
    await until(() => bodies.bytes === 0);
  }
});

t.test('a body that drips for too long is given up', async (t) => {
  const { talk, bodies } = await listen(t, 8 * MiB, { ...TIMES, uploadMs: 50 });
  const { socket, heard } = talk(CHUNKED);
  const drip = setInterval(() => (chunk(1) as (string | Uint8Array)[]).map((word) => socket.write(word)), 10);
  t.teardown(() => clearInterval(drip));
  t.match(await heard('"requestId"'), /^HTTP\/1\.1 400 [\s\S]*upload has taken longer than 0\.05 s/);
  clearInterval(drip);
  await until(() => bodies.bytes === 0);
});

t.test('a body keeps its room until its answer', async (t) => {
  const { operations, bodies, post } = await listen(t, 8 * MiB);
  let finish: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  operations.onResolve = async ({ target }) => {
    await gate;
    return { positions: target, report: fakeReport() };
  };
  const answer = post();
  await until(() => operations.resolves.length === 1);
  t.equal(bodies.bytes, JSON.stringify(arraysRequest()).length);
  finish();
  t.equal((await answer).status, 200);
  await until(() => bodies.bytes === 0);
});

t.test('bodies of unknown paths and unread bodies are not kept', async (t) => {
  const { talk, bodies } = await listen(t, 8 * MiB);
  const words: Socket[] = [];
  for (const path of ['/nowhere', '/livez', '/v1'])
    words.push(talk(announced(MiB).replace('/v1/resolve', path), new Uint8Array(1000)).socket);
  const last = talk(announced(MiB).replace('POST /v1/resolve', 'GET /livez'), new Uint8Array(1000));
  t.match(await last.heard('"ok"'), /^HTTP\/1\.1 200 /);
  t.equal(bodies.bytes, 0);
  for (const socket of words) socket.destroy();
});

t.test('arrays that are larger than their text are charged as what they are', async (t) => {
  const { operations, bodies, app } = await listen(t, 8 * MiB);
  const held: number[] = [];
  operations.onResolve = async ({ target }) => {
    held.push(bodies.bytes);
    return { positions: target, report: fakeReport() };
  };
  const count = 3 * 50_000;
  const text = JSON.stringify({
    mesh: { vertexCount: count / 3, triangles: [0, 1, 2] },
    start: { data: Array(count).fill(0) },
    target: { data: Array(count).fill(1) },
  });
  const send = (url: string, type: string, payload: string) =>
    app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload });
  t.equal((await send('/v1/resolve', 'application/json', text)).statusCode, 200);
  const file = `${'v 0 0 0\n'.repeat(900)}f 1 2 3\n`;
  const part = (name: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"; filename="a.obj"\r\n\r\n${file}\r\n`;
  const form = `${part('start')}${part('target')}--b--\r\n`;
  const answer = await send('/v1/resolve', 'multipart/form-data; boundary=b', form);
  t.equal(answer.statusCode, 200, answer.payload.slice(0, 300));
  t.equal(held.length, 2);
  t.ok(held[0]! >= 2 * 4 * count && text.length < 2 * 4 * count, `${held[0]} bytes of JSON with ${text.length}`);
  t.ok(held[1]! >= 2 * 24 * 900 && form.length < 2 * 24 * 900, `${held[1]} bytes of a form with ${form.length}`);
  await until(() => bodies.bytes === 0);
});

t.test('a client that does not read its answer is disconnected', async (t) => {
  const { operations, bodies, talk, state } = await listen(t, 8 * MiB, TIMES, 100);
  operations.onResolve = async () => ({ positions: new Float32Array(64 * MiB), report: fakeReport() });
  const body = JSON.stringify(arraysRequest());
  const json = announced(body.length, 'accept: application/x-protobuf').replace('x-protobuf', 'json');
  const { socket, closed } = talk();
  socket.pause();
  socket.write(json + body);
  await until(() => operations.resolves.length === 1);
  await until(() => bodies.bytes === 0);
  await state.idle();
  socket.resume();
  await closed;
});

t.test('what a refused body may still send is bounded, and its client can read why', async (t) => {
  const limits = { bytes: 4 * MiB, ms: 300 };
  const { talk, app, bodies } = await listen(t, 8 * MiB, TIMES, 300_000, limits);
  const first = talk(announced(4 * MiB));
  await until(() => bodies.bytes === 4 * MiB);
  const received: Socket[] = [];
  app.server.on('connection', (socket: Socket) => received.push(socket));
  for (const [name, begin, piece] of [
    ['announced', announced(60 * MiB), [new Uint8Array(MiB)]],
    ['chunked', CHUNKED, chunk(MiB)],
    ['of no path', announced(60 * MiB).replace('/v1/resolve', '/nowhere'), [new Uint8Array(MiB)]],
  ] as const) {
    const { socket, heard, closed } = talk(begin);
    for (let sent = 0; sent < 60; sent++) for (const word of piece) socket.write(word);
    t.match(await heard('"requestId"'), /^HTTP\/1\.1 4\d\d [\s\S]*\r\nconnection: close\r\n/i, name);
    await closed;
    const { bytesRead } = received.at(-1)!;
    // A chunked body is charged up to its share before it is refused.
    t.ok(bytesRead < 4 * MiB + limits.bytes + MiB, `${name}: ${bytesRead} bytes were received`);
  }
  first.socket.destroy();
  await until(() => bodies.bytes === 0);
});

t.test('the connection of a small refused body goes on, unless the body never comes', async (t) => {
  // Time enough for a body on a slow machine; the test waits twice as long.
  const limits = { bytes: 4 * MiB, ms: 4000 };
  const { talk, bodies } = await listen(t, 8 * MiB, TIMES, 300_000, limits);
  const first = talk(announced(4 * MiB));
  await until(() => bodies.bytes === 4 * MiB);
  const second = talk(announced(3.5 * MiB));
  const refusal = await second.heard('"retryAfter"');
  t.notMatch(refusal, /\r\nconnection: close\r\n/i);
  second.socket.write(new Uint8Array(3.5 * MiB));
  second.socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n');
  t.match(await second.heard('{"status":"ok"}'), /HTTP\/1\.1 200 /);
  await new Promise((resolve) => setTimeout(resolve, limits.ms + 300));
  second.socket.write('GET /v1 HTTP/1.1\r\nhost: x\r\n\r\n');
  t.match(await second.heard('"algorithmVersion"'), /HTTP\/1\.1 200 /, 'the limit of time is over with the body');
  const third = talk(announced(3.5 * MiB));
  await third.heard('"retryAfter"');
  await third.closed;
  first.socket.destroy();
});

t.test('an answer that is not read takes room, and the next one waits for it', async (t) => {
  const { operations, bodies, talk, app } = await listen(t, 8 * MiB);
  const id = 'f'.repeat(32);
  let answered = 0;
  operations.onStep = async () => {
    answered++;
    return { frame: 1n, positions: new Float32Array(8 * MiB), report: fakeReport(), isReplay: false };
  };
  const step = `POST /v1/sessions/${id}/steps HTTP/1.1\r\nhost: x\r\ncontent-type: application/octet-stream\r\ncontent-length: 0\r\n\r\n`;
  const readers = [1, 2, 3].map(() => {
    const { socket, closed } = talk();
    socket.pause();
    socket.write(step);
    return { socket, closed };
  });
  await until(() => answered === 3);
  await until(() => bodies.bytes > 0);
  // More than sockets take; one answer of any size may always go.
  t.equal(bodies.bytes, 32 * MiB, 'the others wait');
  const small = await app.inject('/v1');
  t.equal(small.statusCode, 200);
  for (const { socket } of readers) socket.resume();
  await until(() => bodies.bytes === 0);
  for (const { socket } of readers) t.equal(socket.destroyed, false, 'answered in full');
});
