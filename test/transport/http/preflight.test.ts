import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { DISCARD_LIMITS } from '../../../src/transport/intake/discarding.js';
import { openDoor } from '../door.js';

const full = () => new IntersticeError('QUEUE_FULL', '4 requests are waiting already', { retryAfterSeconds: 2.5 });

async function listen(t: Test, maxMessageBytes = 64 << 20) {
  // A slow machine may take longer than five seconds for what a client sends after its refusal.
  const discardLimits = { ...DISCARD_LIMITS, ms: 300_000 };
  const door = await openDoor(t, maxMessageBytes, undefined, {}, { discardLimits });
  await door.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = door.app.server.address() as { port: number };
  /** Writes, and hears everything until the text holds what is waited for, or the connection ends. */
  const talk = (until: string) => {
    const socket = connect(port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    let text = '';
    const heard = new Promise<string>((resolve, reject) => {
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (text.includes(until)) resolve(text);
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    return { socket, heard };
  };
  return { ...door, talk };
}

const head = (path: string, lines: readonly string[], method = 'POST') =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('\r\n')}\r\n\r\n`;

const raw = (bytes: number, ...more: string[]) => [
  'content-type: application/octet-stream',
  `content-length: ${bytes}`,
  ...more,
];

t.test('what cannot be taken is refused on its headers: no body is waited for', async (t) => {
  const { operations, talk, state, lines } = await listen(t);
  operations.shut = full();
  const json = ['content-type: application/json', 'content-length: 5000000'];
  const form = ['content-type: multipart/form-data; boundary=b', 'content-length: 5000000'];
  const asked = [
    {
      path: '/v1/sessions/ab/steps',
      lines: raw(840_000),
      preflight: { operation: 'step', sessionId: 'ab', bytes: 840_000 },
    },
    { path: '/v1/resolve', lines: json, preflight: { operation: 'resolve', bytes: 5_000_000 } },
    { path: '/v1/resolve', lines: form, preflight: { operation: 'resolve', bytes: 5_000_000 } },
    { path: '/v1/check', lines: json, preflight: { operation: 'check', bytes: 5_000_000 } },
    { path: '/v1/sessions', lines: json, preflight: { operation: 'createSession', bytes: 5_000_000 } },
  ];
  for (const { path, lines } of asked) {
    // Not a byte of the body is ever sent: an answer can only come of the headers.
    const { socket, heard } = talk('"retryAfter"');
    socket.write(head(path, lines));
    const text = await heard;
    t.match(text, /^HTTP\/1\.1 429 [\s\S]*"code":"QUEUE_FULL"/, path);
    t.match(text, /\r\nretry-after: 3\r\n/i, path);
    socket.destroy();
  }
  t.match(
    operations.preflights.map(({ preflight }) => preflight),
    asked.map(({ preflight }) => preflight),
  );
  t.equal(operations.resolves.length + operations.checks.length + operations.sessionCalls.length, 0);
  await state.idle();
  for (const line of lines.filter(({ msg }) => msg === 'Request completed.'))
    t.match(line, { status: 429, code: 'QUEUE_FULL' });
});

t.test(
  'who writes a large body without reading finds the refusal and no reset, and the connection goes on',
  async (t) => {
    const { operations, talk } = await listen(t);
    operations.shut = full();
    const bytes = 24 << 20;
    const first = talk('"retryAfter"');
    const { socket } = first;
    socket.pause();
    socket.write(head('/v1/sessions/ab/steps', raw(bytes)));
    const chunk = Buffer.alloc(1 << 20);
    for (let sent = 0; sent < bytes; sent += chunk.length) {
      await new Promise<void>((resolve, reject) => socket.write(chunk, (error) => (error ? reject(error) : resolve())));
    }
    socket.resume();
    t.match(await first.heard, /^HTTP\/1\.1 429 /);
    operations.shut = undefined;
    const next = new Promise<string>((resolve) => socket.on('data', (data) => resolve(data.toString('latin1'))));
    socket.write(head('/v1/sessions/ab', [], 'GET'));
    t.match(await next, /^HTTP\/1\.1 200 /);
  },
);

t.test('expect: 100-continue: the body is asked for only when it is wanted', async (t) => {
  const { operations, talk } = await listen(t);
  const expecting = raw(12, 'expect: 100-continue');
  operations.shut = full();
  const refused = talk('"retryAfter"');
  refused.socket.write(head('/v1/sessions/ab/steps', expecting));
  t.match(await refused.heard, /^HTTP\/1\.1 429 /, 'no 100 before it');

  operations.shut = undefined;
  const taken = talk('interstice-report');
  const asked = new Promise<void>((resolve) => taken.socket.once('data', () => resolve()));
  taken.socket.write(head('/v1/sessions/ab/steps', expecting));
  await asked;
  t.equal(operations.expected, 1, 'counted on until it has come');
  taken.socket.write(Buffer.from(Float32Array.of(1, 2, 3).buffer));
  t.match(await taken.heard, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  t.equal(operations.expected, 0);
});
