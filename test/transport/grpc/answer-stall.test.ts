import { once } from 'node:events';
import { type ClientHttp2Stream, connect, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { AnswerStall } from '../../../src/transport/grpc/answer-stall.js';

/** More than the window of a stream. */
const ANSWER = Buffer.alloc(600_000, 7);

/** A connection, and both ends of a stream on it that answers. */
async function open(t: Test, stallMs: number) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.teardown(() => {
    session.destroy();
    server.close();
  });
  const client = session.request();
  client.on('error', () => {});
  const [stream] = (await once(server, 'stream')) as [ServerHttp2Stream];
  stream.on('error', () => {});
  stream.respond();
  const stall = new AnswerStall(stream);
  stall.begin(stallMs);
  return { server, session, client, stream };
}

async function readSlowly(client: ClientHttp2Stream, bytesPerMs: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of client as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    await wait(chunk.byteLength / bytesPerMs);
  }
  return Buffer.concat(chunks);
}

t.test('a stream that is not read is reset, whatever else its connection carries', async (t) => {
  const { session, stream } = await open(t, 200);
  const reset = once(stream, 'close');
  stream.write(ANSWER, () => {});
  let isBusy = true;
  const pings = (async () => {
    for (; isBusy; await wait(20)) session.ping(() => {});
  })();
  await reset;
  isBusy = false;
  await pings;
  t.equal(stream.rstCode, 8);
});

t.test('a slow reader gets the whole answer, also where the stream is ended within it', async (t) => {
  const { client, stream } = await open(t, 2000);
  let isSent = false;
  stream.write(ANSWER, () => {
    isSent = true;
  });
  stream.end();
  const from = performance.now();
  const heard = await readSlowly(client, 150);
  t.ok(performance.now() - from > 2000, 'it took longer than the stream may stand still');
  t.ok(heard.equals(ANSWER));
  t.ok(isSent);
  t.equal(stream.rstCode, 0);
});
