import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { SERVICE } from '../../src/transport/grpc/service.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import type { Random } from '../support/random.js';
import { mutate, pick, randomBytes } from './mutate.js';
import { resolveBytes, smallRequest } from './service.js';

/** How a call ended, as the connection showed it. */
export interface Ended {
  /** HTTP status; 0 without headers */
  readonly status: number;
  /** absent when there were no trailers */
  readonly grpcStatus?: number | undefined;
  readonly details?: Buffer | undefined;
  readonly message?: string | undefined;
  /** of the reset, 0 without one */
  readonly reset: number;
  readonly body: Buffer;
}

export interface CallAttack {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly Uint8Array[];
  /** its path is one of the contract's */
  readonly isOurMethod: boolean;
  /** false: gone before the message is whole, with a reset */
  readonly isEnded: boolean;
}

const SECONDS = { seconds: 0n, nanos: 500_000_000 };

/** Valid messages by method, which are then corrupted. */
function messages(sessionId: string): readonly [method: string, message: Uint8Array][] {
  const { mesh, start, target } = smallRequest();
  const step = encodeMessage('StepRequest', { sessionId, target, timeBudget: SECONDS, override: { stepLimit: 4 } });
  return [
    ['Resolve', resolveBytes()],
    ['CreateSession', encodeMessage('CreateSessionRequest', { mesh, start, label: 'x', idempotencyKey: 'k' })],
    ['GetSession', encodeMessage('GetSessionRequest', { sessionId })],
    ['ListSessions', encodeMessage('ListSessionsRequest', { pageSize: 3, label: 'x' })],
    ['UpdateSession', encodeMessage('UpdateSessionRequest', { sessionId, label: 'y', parameters: { damping: 0.5 } })],
    ['DeleteSession', encodeMessage('DeleteSessionRequest', { sessionId: 'nobody' })],
    ['Step', step],
    ['StepStream', step],
    ['Check', encodeMessage('CheckRequest', { mesh, positions: start, maxPairs: 3 })],
    ['GetServerInfo', new Uint8Array()],
  ];
}

/** The five bytes before a message, and the message. */
function frame(message: Uint8Array, length = message.byteLength, isCompressed = false): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = isCompressed ? 1 : 0;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}

/** 64 MiB of zeros in 64 KiB: it unpacks to 64 times what the service accepts. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024));

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'grpc-timeout': '99999999999H' },
  { 'grpc-timeout': 'soon' },
  { 'grpc-timeout': '-1S' },
  { 'grpc-timeout': '1n' },
  { 'grpc-encoding': 'brotli' },
  { 'grpc-accept-encoding': 'nonsense,,' },
  { 'content-type': 'application/json' },
  { 'content-type': 'application/grpc+json' },
  { ':method': 'GET' },
  { ':path': `/${SERVICE}/Nothing` },
  { ':path': '/' },
  { ':path': '/a/b/c?d' },
  { 'x-broken-bin': '§§§' },
  { 'x-long': 'y'.repeat(10_000) },
  { authorization: 'Bearer \u00ff' },
];

export function drawCall(sessionId: string, random: Random): CallAttack {
  const [method, message] = pick(messages(sessionId), random);
  const headers = {
    ':method': 'POST',
    ':path': `/${SERVICE}/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-timeout': '5S',
  };
  const attack = (
    name: string,
    chunks: readonly Uint8Array[],
    more: Readonly<Record<string, string>> = {},
    isEnded = true,
  ): CallAttack => ({
    name: `${name} to ${method}`,
    headers: { ...headers, ...more },
    isOurMethod: !(':path' in more),
    chunks,
    isEnded,
  });
  switch (random.int(11)) {
    case 0:
      return attack('length too long', [frame(message, message.byteLength + 1 + random.int(1000))]);
    case 1:
      return attack('huge length', [frame(message, pick([0xffffffff, 0x7fffffff, 0x40000000], random))]);
    case 2:
      return attack('length too short', [frame(message, random.int(message.byteLength + 1))]);
    case 3:
      return attack('garbage as gzip', [frame(randomBytes(50, random), 50, true)], { 'grpc-encoding': 'gzip' });
    case 4:
      return attack('compressed without a name', [frame(message, message.byteLength, true)]);
    case 5:
      return attack('gzip bomb', [frame(BOMB, BOMB.byteLength, true)], { 'grpc-encoding': 'gzip' });
    case 6: {
      const whole = frame(message);
      const pieces = Array.from({ length: 6 }, (_, i) => whole.subarray(i * 5, i * 5 + 5));
      return attack('slow and cut off', pieces, {}, false);
    }
    case 7:
      return attack('random frame', [randomBytes(random.int(300), random)]);
    case 8:
      return attack('header', [frame(message)], pick(HEADERS, random));
    case 9:
      return attack('several messages', [frame(message), frame(mutate(message, random)), frame(message)]);
    default:
      return attack('mutated message', [frame(mutate(message, random))]);
  }
}

/** Between the pieces of one call, ms. */
const PAUSE_MS = 10;
/** Longest wait for the end of a call, ms. */
const PATIENCE_MS = 100_000;

/** @returns undefined when the attacker cut the call off, 'silence' when it never ended */
export async function carryOutCall(
  session: ClientHttp2Session,
  attack: CallAttack,
): Promise<Ended | 'silence' | undefined> {
  const stream = session.request({ ':scheme': 'http', ':authority': 'localhost', ...attack.headers });
  let [status, grpcStatus, details, message] = [0, undefined, undefined, undefined] as [
    number,
    number | undefined,
    Buffer | undefined,
    string | undefined,
  ];
  const read = (headers: Record<string, unknown>): void => {
    if (headers[':status'] !== undefined) status = Number(headers[':status']);
    if (headers['grpc-status'] === undefined) return;
    grpcStatus = Number(headers['grpc-status']);
    message = String(headers['grpc-message'] ?? '');
    const given = headers['grpc-status-details-bin'];
    if (given !== undefined) details = Buffer.from(String(given), 'base64');
  };
  const body: Buffer[] = [];
  stream.on('response', read);
  stream.on('trailers', read);
  stream.on('data', (chunk: Buffer) => body.push(chunk));
  stream.on('error', () => {});
  const closed = new Promise<'closed'>((resolve) => stream.once('close', () => resolve('closed')));
  for (const [i, chunk] of attack.chunks.entries()) {
    if (i > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (!stream.destroyed && !stream.writableEnded) stream.write(chunk);
  }
  if (!attack.isEnded) {
    stream.close(constants.NGHTTP2_CANCEL);
    await closed;
    return undefined;
  }
  if (!stream.destroyed) stream.end();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), PATIENCE_MS);
  });
  const outcome = await Promise.race([closed, late]);
  clearTimeout(timer);
  if (outcome === 'late') {
    stream.close(constants.NGHTTP2_CANCEL);
    return 'silence';
  }
  return { status, grpcStatus, details, message, reset: stream.rstCode ?? 0, body: Buffer.concat(body) };
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

function http2Frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array,
  length = payload.byteLength,
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length & 0xffffff, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Bytes for a separate connection: no HTTP/2 at all, or HTTP/2 that is wrong after its preface. */
export function drawBytes(random: Random): Uint8Array {
  const settings = http2Frame(4, 0, 0, new Uint8Array());
  const junk = () =>
    http2Frame(random.int(12), random.int(256), random.int(2 ** 31), randomBytes(random.int(40), random));
  switch (random.int(5)) {
    case 0:
      return randomBytes(1 + random.int(500), random);
    case 1:
      return Buffer.concat([PREFACE, settings, ...Array.from({ length: 1 + random.int(20) }, junk)]);
    case 2:
      return mutate(Buffer.concat([PREFACE, settings, junk()]), random);
    case 3:
      // Announces the largest possible frame, and sends a part of it.
      return Buffer.concat([PREFACE, settings, http2Frame(0, 0, 1, randomBytes(100, random), 0xffffff)]);
    default:
      return Buffer.from('POST /v1/resolve HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello');
  }
}

/** ms before the connection is closed: long enough for its bytes to be read. */
const LINGER_MS = 50;

export async function sendBytes(bytes: Uint8Array, port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.on('data', () => {});
  socket.write(bytes);
  await new Promise((resolve) => setTimeout(resolve, LINGER_MS));
  socket.destroy();
}

export function openConnection(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  return session;
}
