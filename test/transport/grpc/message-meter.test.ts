import { once } from 'node:events';
import { connect, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { MessageMeter } from '../../../src/transport/grpc/message-meter.js';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';

t.test('the answers of a call leave no listeners on its stream', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.teardown(() => {
    session.destroy();
    server.close();
  });
  session.request().on('error', () => {});
  const [stream] = (await once(server, 'stream')) as [ServerHttp2Stream];
  const options = { bodies: new BodyLedger(0), maxMessageBytes: 1024 };
  const meter = new MessageMeter(
    stream,
    options,
    () => '',
    () => {},
  );
  const before = stream.listenerCount('timeout');
  for (let answer = 0; answer < 3; answer++) {
    meter.beginAnswer(60_000);
    meter.endAnswer();
  }
  t.equal(stream.listenerCount('timeout'), before);
});
