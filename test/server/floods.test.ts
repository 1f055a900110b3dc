import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import t from 'tap';
import { SERVICE } from '../../src/transport/grpc/service.js';
import { type ServedProgram, serveProgram } from '../support/served-program.js';
import { arraysRequest } from '../transport/fixtures.js';

/** Floods against the program as it is started: what it holds is read from outside. */

const MiB = 1 << 20;
/** what every flood promises, against a capacity of 16 MiB */
const FLOOD = { bodies: 40, bytes: 2 * MiB };
const CAPACITY = 16 * MiB;
/** buffers of 40 connections of 64 KiB each, and garbage of other origin */
const SLACK = 8 * MiB;

/** The value when it no longer changes: discarded bytes still arrive when their senders believe them sent. */
async function atRest(read: () => Promise<number>): Promise<number> {
  for (let last = await read(), same = 0; ; ) {
    const now = await read();
    same = Math.abs(now - last) < MiB / 16 ? same + 1 : 0;
    if (same === 5) return now;
    last = now;
  }
}

/** Promises and sends all but the last bytes of every body. @returns ends all connections */
type Flood = (service: ServedProgram) => Promise<() => void>;

const viaHttp =
  (isChunked: boolean): Flood =>
  async ({ http }) => {
    const { port, hostname } = new URL(http);
    const sockets = Array.from({ length: FLOOD.bodies }, () => connect(Number(port), hostname));
    const { bytes } = FLOOD;
    const size = isChunked ? 'transfer-encoding: chunked' : `content-length: ${bytes + 1}`;
    const head = `POST /v1/resolve HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/x-protobuf\r\n${size}\r\n\r\n`;
    await Promise.all(
      sockets.map(async (socket) => {
        socket.on('error', () => {}).resume();
        if (!isChunked) return send(socket, head, Buffer.alloc(bytes));
        await send(socket, head);
        for (let sent = 0; sent < bytes; sent += MiB / 4)
          await send(socket, `${(MiB / 4).toString(16)}\r\n`, Buffer.alloc(MiB / 4), '\r\n');
      }),
    );
    return () => {
      for (const socket of sockets) socket.destroy();
    };
  };

const viaGrpc: Flood = async ({ grpc }) => {
  const session = connectHttp2(`http://${grpc}`);
  session.on('error', () => {});
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(FLOOD.bytes + 1, 1);
  await Promise.all(
    Array.from({ length: FLOOD.bodies }, async () => {
      const headers = { ':path': `/${SERVICE}/Resolve`, 'content-type': 'application/grpc', te: 'trailers' };
      const stream = session.request({ ':method': 'POST', ...headers });
      stream.on('error', () => {}).resume();
      await send(stream, prefix, Buffer.alloc(FLOOD.bytes));
    }),
  );
  return () => session.destroy();
};

/** Writes everything; ends early when the other side does. */
function send(stream: NodeJS.WritableStream & { destroyed?: boolean }, ...words: (string | Buffer)[]): Promise<void> {
  return new Promise((resolve) => {
    for (const end of ['close', 'end']) stream.once(end, () => resolve());
    if (stream.destroyed) resolve();
    for (const word of words.slice(0, -1)) stream.write(word);
    stream.write(words.at(-1)!, () => resolve());
  });
}

for (const [name, flood] of [
  ['chunked bodies', viaHttp(true)],
  ['announced bodies', viaHttp(false)],
  ['messages on one gRPC connection', viaGrpc],
] as const) {
  t.test(`unfinished ${name} take no more memory than the setting allows, and others are served`, async (t) => {
    const service = await serveProgram(t, { INTERSTICE_MAX_BODY_BYTES: String(CAPACITY) });
    const { http, read } = service;
    const post = () =>
      fetch(`${http}/v1/resolve`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(arraysRequest()),
      });
    t.equal((await post()).status, 200);
    const before = await read('nodejs_external_memory_bytes');
    const end = await flood(service);
    t.teardown(end);
    const held = await read('interstice_body_bytes');
    t.ok(held > 0 && held <= CAPACITY, `${held} bytes charged`);
    t.equal((await post()).status, 200, 'a small request meanwhile');
    const grown = (await atRest(() => read('nodejs_external_memory_bytes'))) - before;
    t.ok(grown <= CAPACITY + SLACK, `${grown} bytes in memory`);
    end();
    while ((await read('interstice_body_bytes')) !== 0);
    t.pass('everything is released');
  });
}
