import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import type { Random } from '../support/random.js';
import { form, START_OBJ, startPart, TARGET_OBJ, targetPart } from '../transport/fixtures.js';
import { mutate, pick, randomBytes } from './mutate.js';
import { resolveBytes, smallRequest } from './service.js';

/** What is written to a fresh socket, and how it ends. */
export interface Attack {
  readonly name: string;
  /** written one after the other, with a pause between them where there are several */
  readonly chunks: readonly (string | Uint8Array)[];
  /** half: our side closes and still reads; cut: closes without reading; open: waits for the answer */
  readonly end: 'half' | 'cut' | 'open';
}

interface Body {
  readonly path: string;
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly method?: string;
}

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const arrays = { mesh: { vertexCount: 6, triangles: [0, 1, 2, 3, 4, 5] }, start: { data: Array(18).fill(0.5) } };

/** Valid requests, which are then corrupted. */
function bodies(sessionId: string): readonly Body[] {
  const { mesh, start, target } = smallRequest();
  const [protobuf, text, raw] = ['application/x-protobuf', 'application/json', 'application/octet-stream'];
  const steps = `/v1/sessions/${sessionId}/steps`;
  const { payload, headers } = form([startPart, targetPart]);
  return [
    { path: '/v1/resolve', type: protobuf!, bytes: resolveBytes() },
    {
      path: '/v1/resolve',
      type: text!,
      bytes: json({ ...arrays, target: arrays.start, parameters: { stepLimit: 4 } }),
    },
    { path: '/v1/resolve', type: headers['content-type']!, bytes: payload },
    {
      path: '/v1/check',
      type: protobuf!,
      bytes: encodeMessage('CheckRequest', { mesh, positions: start, maxPairs: 3 }),
    },
    { path: '/v1/check', type: text!, bytes: json({ ...arrays, positions: arrays.start, pathEnd: arrays.start }) },
    {
      path: '/v1/sessions',
      type: protobuf!,
      bytes: encodeMessage('CreateSessionRequest', { mesh, start, label: 'x' }),
    },
    { path: '/v1/sessions', type: text!, bytes: json({ ...arrays, label: 'ü', idleTimeout: '1s' }) },
    { path: `/v1/sessions/${sessionId}`, type: text!, bytes: json({ parameters: { damping: 0.5 } }), method: 'PATCH' },
    { path: steps, type: protobuf!, bytes: encodeMessage('StepRequest', { target, override: { stepLimit: 4 } }) },
    { path: steps, type: text!, bytes: json({ target: arrays.start, frame: '7', include: { contacts: true } }) },
    { path: `${steps}?scalar=float32`, type: raw!, bytes: new Uint8Array(target.data.buffer) },
  ];
}

/** Longest computation that an attack can ask for, ms: malformed input may be much work. */
const BUDGET = 'interstice-time-budget-ms: 500';
const hasBudget = (path: string): boolean => /resolve|steps/.test(path);

function head({ path, type, method = 'POST' }: Body, length: number | string, more: readonly string[] = []): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: localhost',
    `content-type: ${type}`,
    `content-length: ${length}`,
    ...more,
  ];
  if (hasBudget(path)) lines.push(BUDGET);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** 16 MiB of zeros: sixteen times what the service accepts. */
const BOMB = gzipSync(Buffer.alloc(16 * 1024 * 1024));

const HEADERS = [
  'content-encoding: gzip',
  'transfer-encoding: chunked',
  'accept: image/png',
  'accept: */*;q=nonsense',
  'interstice-time-budget-ms: -1',
  'interstice-time-budget-ms: 1e309',
  'interstice-on-budget: never',
  'interstice-override: {"a":',
  `interstice-override: ${'['.repeat(4000)}`,
  'expect: 100-continue',
  'expect: nothing',
  'x-request-id: \x7f\x01',
  `x-long: ${'y'.repeat(20_000)}`,
  'content-length: 3',
  'upgrade: websocket',
];

const NONSENSE: readonly ((body: Body, random: Random) => readonly Body[])[] = [
  (body) => [{ ...body, bytes: json({ mesh: { vertexCount: 4294967295, triangles: [4294967295, 0, 1] }, start: {} }) }],
  (body) => [{ ...body, bytes: Buffer.from(`{"start":{"data":[NaN,1e999,-1e999]},"mesh":${'['.repeat(50_000)}`) }],
  (body) => [
    {
      ...body,
      bytes: Buffer.from('{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"mesh":{"vertexCount":1}}'),
    },
  ],
  (body) => [
    { ...body, type: 'application/octet-stream', bytes: new Uint8Array(new Float32Array(18).fill(Number.NaN).buffer) },
  ],
  (body, random) => [
    { ...body, path: `${body.path}?frame=${pick(['-1', '1e3', '18446744073709551616', ''], random)}` },
  ],
  (body, random) => [{ ...body, path: `/${Buffer.from(randomBytes(12, random)).toString('base64url')}/%ff%00/..` }],
  (body, random) => [{ ...body, method: pick(['GET', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'HEAD'], random) }],
  (body) => [{ ...body, bytes: spoiltForm(), type: 'multipart/form-data; boundary=interstice-test-boundary' }],
];

function spoiltForm(): Uint8Array {
  const many = START_OBJ.replace('f 1 2 3', `f 1 2 4294967295\nf ${'1 '.repeat(1000)}`);
  return form([
    { name: 'start', filename: 'a.obj', body: many },
    { name: 'target', filename: '../../b.ply', body: TARGET_OBJ },
  ]).payload;
}

/** A random attack of every known kind. */
export function drawAttack(sessionId: string, random: Random): Attack {
  const body = pick(bodies(sessionId), random);
  const { bytes } = body;
  const whole = (name: string, spoilt: Body, more: readonly string[] = []): Attack => ({
    name,
    chunks: [head(spoilt, spoilt.bytes.byteLength, ['connection: close', ...more]), spoilt.bytes],
    end: 'open',
  });
  switch (random.int(12)) {
    case 0:
      return { name: 'random bytes', chunks: [randomBytes(1 + random.int(2000), random)], end: 'half' };
    case 1: {
      const raw = Buffer.concat([Buffer.from(head(body, bytes.byteLength)), bytes]);
      return { name: 'mutated request', chunks: [mutate(raw, random)], end: 'half' };
    }
    case 2:
      return {
        name: 'length too long',
        chunks: [head(body, bytes.byteLength + 1 + random.int(2 ** pick([8, 16, 31], random))), bytes],
        end: 'half',
      };
    case 3:
      return { name: 'length too short', chunks: [head(body, random.int(bytes.byteLength)), bytes], end: 'half' };
    case 4: {
      const size = pick(['ffffffffffffffff', '-1', 'zz', '0x10', '', '10;x=y'], random);
      const chunked = head(body, 0).replace('content-length: 0', 'transfer-encoding: chunked');
      return { name: 'lying chunks', chunks: [`${chunked}${size}\r\n`, bytes], end: 'half' };
    }
    case 5:
      return whole('gzip bomb', { ...body, bytes: BOMB }, ['content-encoding: gzip']);
    case 6: {
      const pieces = Array.from({ length: 8 }, (_, i) => bytes.subarray(i * 4, i * 4 + 4));
      return { name: 'slow body', chunks: [head(body, bytes.byteLength + 100), ...pieces], end: 'cut' };
    }
    case 7:
      return {
        name: 'cut off',
        chunks: [head(body, bytes.byteLength), bytes.subarray(0, random.int(bytes.byteLength))],
        end: 'cut',
      };
    case 8:
      return whole('nonsense', pick(NONSENSE, random)(body, random)[0]!);
    case 9:
      return whole('header', body, [pick(HEADERS, random)]);
    case 10:
      return whole('random body', { ...body, bytes: randomBytes(random.int(3000), random) });
    default:
      return whole('mutated body', { ...body, bytes: mutate(bytes, random) });
  }
}

/** Between the chunks of one attack, ms. */
const PAUSE_MS = 15;
/** Longest wait for an answer, ms: a request without one by then has none. */
const PATIENCE_MS = 100_000;

export interface Heard {
  readonly bytes: Buffer;
  /** the service closed, or reset */
  readonly isClosed: boolean;
}

/** Carries an attack out on its own connection. */
export async function carryOut({ chunks, end }: Attack, port: number): Promise<Heard> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const heard: Buffer[] = [];
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => heard.push(chunk));
    for (const event of ['end', 'close', 'error'] as const) {
      socket.on(event, () => {
        isClosed = true;
        resolve();
      });
    }
  });
  for (const [i, chunk] of chunks.entries()) {
    if (i > 1) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (!isClosed) socket.write(chunk);
  }
  if (end === 'half') socket.end();
  if (end !== 'cut') {
    const patience = new AbortController();
    const late = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS);
      patience.signal.addEventListener('abort', () => clearTimeout(timer));
    });
    await Promise.race([closed, late]);
    patience.abort();
  }
  socket.destroy();
  return { bytes: Buffer.concat(heard), isClosed };
}
