import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { Client, credentials } from '@grpc/grpc-js';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { DescriptorWatch } from '../../src/server/descriptors.js';
import { serveProgram } from '../support/served-program.js';
import { arraysRequest } from '../transport/fixtures.js';
import { callRaw } from '../transport/grpc/door.js';

const portOf = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1));

/** Opens connections that send nothing. @returns the number that was closed, so far */
async function idle(t: Test, address: string, count: number): Promise<() => number> {
  let closed = 0;
  const sockets = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(portOf(address), '127.0.0.1', () => resolve(socket));
          socket.on('error', () => {}).resume();
          socket.on('close', () => {
            closed++;
            resolve(socket);
          });
        }),
    ),
  );
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  return () => closed;
}

const post = (http: string) =>
  fetch(`${http}/v1/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(arraysRequest()),
  });

async function callInfo(grpc: string): Promise<unknown> {
  // Clients of one process share connections by default, so the second one might find that of the first being closed.
  const options = { 'grpc.enable_retries': 0, 'grpc.use_local_subchannel_pool': 1 };
  const client = new Client(grpc, credentials.createInsecure(), options);
  try {
    return (await callRaw(client, 'GetServerInfo', new Uint8Array())).error;
  } finally {
    // A client that was refused connects again later, and would take a place that has become free.
    client.close();
  }
}

t.test('a hundred idle connections to each port, with 128 file descriptors, block no other client', async (t) => {
  const service = await serveProgram(t, {}, 128);
  const { http, grpc, admin, read, lines } = service;
  const ask = {
    http: async () => t.equal((await post(http)).status, 200, 'HTTP'),
    grpc: async () => t.equal(await callInfo(grpc), undefined, 'gRPC'),
  };
  // The flooded door is asked first: its queue is served in order, so afterwards all of the hundred have been accepted.
  // A connection to the other door might be accepted before them, and be the one that is idle for longest before its
  // request is read.
  for (const [address, first, second] of [
    [http, ask.http, ask.grpc],
    [grpc, ask.grpc, ask.http],
  ] as const) {
    const closed = await idle(t, address, 100);
    await first();
    await second();
    t.equal((await fetch(`${admin}/readyz`)).status, 200, 'admin');
    t.ok(closed() > 0, 'they make room for each other');
  }
  const open =
    (await read('interstice_connections{door="http"}')) + (await read('interstice_connections{door="grpc"}'));
  t.ok(open > 0 && open < 64, `${open} are open`);
  t.ok((await read('interstice_connections_closed_total{door="http",reason="idle"}')) > 0);
  t.equal(await read('interstice_descriptor_shortages_total'), 0);
  t.ok(lines.some((line) => line.includes('"event":"connections"')));
});

t.test('connections in use keep their places, and the next connection is refused with the reason', async (t) => {
  const { http, grpc, read } = await serveProgram(t, {
    INTERSTICE_MAX_CONNECTIONS: '4',
    INTERSTICE_MAX_CONNECTIONS_PER_ADDRESS: '4',
  });
  const uploads = [1, 2].map(() => {
    const socket = connect(portOf(http), '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.write(
      'POST /v1/resolve HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\ncontent-length: 9\r\n\r\n',
    );
    return new Promise<void>((resolve) => socket.on('close', () => resolve()));
  });
  const streams = [1, 2].map(() => {
    const session = connectHttp2(`http://${grpc}`);
    t.teardown(() => session.destroy());
    const stream = session.request({
      ':method': 'POST',
      ':path': '/interstice.v1.CollisionService/StepStream',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.resume().on('error', () => {});
    return { stream, session };
  });
  await Promise.all(streams.map(({ stream }) => new Promise((resolve) => stream.on('response', resolve))));
  while ((await read('interstice_requests_in_flight')) < 2);

  const late = connect(portOf(http), '127.0.0.1');
  let text = '';
  late.on('data', (chunk) => {
    text += chunk.toString();
  });
  await new Promise<void>((resolve) => late.on('close', () => resolve()));
  t.match(text, /^HTTP\/1\.1 429 [\s\S]*retry-after: 1[\s\S]*"code":"QUEUE_FULL"/);
  t.match(await callInfo(grpc), { code: 14 });
  t.ok((await read('interstice_connections_closed_total{door="http",reason="address"}')) > 0);

  streams[0]!.session.destroy();
  while ((await read('interstice_connections{door="grpc"}')) > 1);
  t.equal((await fetch(`${http}/livez`)).status, 200, 'a place is free');
  let isClosed = false;
  void Promise.race(uploads).then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isClosed, 'the uploads are still there');
});

t.test('a shortage of file descriptors is counted, and logged when it begins and ends', async (t) => {
  const lines: { level: number; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const answers: (() => readonly unknown[])[] = [
    () => Array(50),
    () => Array(95),
    () => Array(95),
    () => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    },
    () => Array(50),
  ];
  let counted = 0;
  await new Promise<void>((resolve) => {
    const watch = new DescriptorWatch({
      limit: 100,
      log,
      onShortage: () => counted++,
      intervalMs: 1,
      list: async () => {
        const next = answers.shift();
        if (next) return next();
        watch.end();
        resolve();
        return [];
      },
    });
    // Keeps the process alive, which the watch does not.
    const keep = setInterval(() => {}, 1000);
    t.teardown(() => clearInterval(keep));
  });
  t.equal(counted, 3);
  t.match(lines, [
    { level: 50, open: 95, limit: 100, msg: /running out/ },
    { level: 40, open: 50, msg: /enough file descriptors again/ },
  ]);
});

t.test('an accept that fails does not end the process', async (t) => {
  const lines: { msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  let counted = 0;
  const watch = new DescriptorWatch({ limit: undefined, log, onShortage: () => counted++ });
  t.teardown(() => watch.end());
  const fail = (code: string, syscall = 'accept') => watch.report(Object.assign(new Error(code), { code, syscall }));
  fail('EMFILE');
  fail('EADDRINUSE', 'listen');
  fail('EPERM');
  t.equal(counted, 1);
  t.match(lines, [{ msg: /running out/ }, { msg: 'A connection could not be accepted.' }]);
});
