import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server, constants as http2 } from 'node:http2';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { lacksCluster } from '../../bench/cluster/cluster.js';
import { type Backend, HaProxy } from '../../bench/cluster/ha-proxy.js';
import { openCapacity } from '../../src/transport/admin/capacity.js';

/** Where deploy/haproxy.cfg sends requests. Its servers only count them; bench/cluster has real ones. */

// A machine that does much else takes long to start programs; nothing is judged by time.
t.setTimeout(600_000);

const portOf = async (t: Test, server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
};

/** A server behind the proxy that answers calls of both protocols as it is told, and checks with 200. */
const openBackend = async (t: Test, name: string, answer: RequestListener, capacity = () => 100): Promise<Backend> => {
  const server = createServer((request, response) =>
    request.url === '/readyz' ? response.end() : answer(request, response),
  );
  t.teardown(() => server.closeAllConnections());
  const reports = await openCapacity('127.0.0.1', 0, capacity);
  t.teardown(() => reports.close());
  // A call is answered when all of it has come.
  const streams = createHttp2Server().on('stream', (stream) => {
    stream.resume().once('end', () => {
      stream.respond({ [http2.HTTP2_HEADER_STATUS]: 200 });
      stream.end();
    });
  });
  return { name, http: await portOf(t, server), grpc: await portOf(t, streams), capacity: reports.port };
};

const startProxy = async (t: Test, backends: readonly Backend[]): Promise<HaProxy> => {
  const proxy = await HaProxy.start(backends);
  t.teardown(() => proxy.stop());
  for (const { name } of backends) await proxy.waitFor(name, 'isUp');
  return proxy;
};

t.test('new sessions go where capacity is free, and stay there', { skip: lacksCluster }, async (t) => {
  const created: string[][] = [[], []];
  const strayed: string[] = [];
  const capacities = [80, 20];
  const keyOf = ({ headers, url }: IncomingMessage) => String(headers['x-session-id'] ?? url!.split('/')[3]);
  const backends: Backend[] = [];
  for (const k of [0, 1]) {
    const answer: RequestListener = (request, response) => {
      if (request.url === '/v1/sessions') {
        const id = `id-${k}-${created[k]!.length}`;
        const key = String(request.headers['x-session-id'] ?? id);
        created[k]!.push(key);
        response.writeHead(201, { location: `/v1/sessions/${id}` }).end(id);
        return;
      }
      if (!created[k]!.includes(keyOf(request))) strayed.push(`${k}: ${request.url}`);
      response.end();
    };
    backends.push(await openBackend(t, `w${k + 1}`, answer, () => capacities[k]!));
  }
  const proxy = await startProxy(t, backends);
  const weightsAre = async (...weights: readonly number[]) => {
    for (;;) {
      const states = await proxy.state().catch(() => undefined);
      const isSo = ({ name }: { readonly name: string }, k: number) =>
        states?.get(name)?.isUp && states.get(name)!.weight === weights[k];
      if (backends.every(isSo)) return;
      await sleep(25);
    }
  };
  const post = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${proxy.address}${path}`, { method: 'POST', headers })).text();
  const create = async (k: number) => {
    const headers: Record<string, string> = k % 2 === 0 ? {} : { 'x-session-id': `the-key-of-session-${k}` };
    const id = await post('/v1/sessions', headers);
    return () => post(`/v1/sessions/${id}/steps`, headers);
  };

  await weightsAre(80, 20);
  const steps = [];
  for (let k = 0; k < 40; k++) steps.push(await create(k));
  // In turn by weight: where in the turn the first one comes shifts the count by one at most, which is what is allowed here, twice.
  t.ok(Math.abs(created[1]!.length - 8) <= 2, `of 40, ${created[1]!.length} came to the one that offers a fifth`);
  capacities.reverse();
  await weightsAre(20, 80);
  for (const step of [...steps, ...steps]) await step();
  t.same(strayed, [], 'other weights move no session');
});

t.test('unfinished heads of requests are ended; long bodies and streams are not', { skip: lacksCluster }, async (t) => {
  const backend = await openBackend(t, 'w1', async (request, response) => {
    let bytes = 0;
    for await (const chunk of request) bytes += (chunk as Buffer).length;
    response.end(String(bytes));
  });
  const { address, grpcAddress } = await startProxy(t, [backend]);
  const upload = request(`${address}/v1/resolve`, { method: 'POST' });
  upload.write('half');
  const session = connectHttp2(`http://${grpcAddress}`);
  t.teardown(() => session.destroy());
  const call = session.request({ ':method': 'POST', ':path': '/interstice.v1.Interstice/StepStream' });
  call.write('half');

  const port = Number(new URL(address).port);
  const slow = connect(port, '127.0.0.1').setEncoding('utf8');
  slow.write('GET /v1 HTTP/1.1\r\nHost: localhost\r\n');
  let told = '';
  for await (const part of slow) told += part;
  t.match(told, /^HTTP\/1\.1 408 /, 'the proxy ends it');

  upload.end('half');
  const [response] = (await once(upload, 'response')) as [IncomingMessage];
  t.equal((await response.setEncoding('utf8').toArray()).join(''), '8', 'a body that took longer arrives');
  call.end('half');
  const [headers] = await once(call, 'response');
  t.equal(headers[':status'], 200, 'and so does a stream');
});

/** What a client of HTTP/2 sends first, with empty settings. */
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0';

t.test('one source cannot take every connection', { skip: lacksCluster }, async (t) => {
  const backend = await openBackend(t, 'w1', (_, response) => response.end());
  const proxy = await startProxy(t, [backend]);
  const ports = [proxy.address, `http://${proxy.grpcAddress}`].map((address) => Number(new URL(address).port));
  const greetings = ['GET /v1 HTTP/1.1\r\nHost: localhost\r\n\r\n', PREFACE];
  /** Undefined if the proxy closes the connection, else what it answers. */
  const ask = async (from: string) => {
    const socket = connect({ port: ports[0]!, host: '127.0.0.1', localAddress: from }).setEncoding('utf8');
    t.teardown(() => socket.destroy());
    socket.write(greetings[0]!);
    const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => []);
    return typeof data === 'string' ? data.slice(0, 'HTTP/1.1 200'.length) : undefined;
  };
  const open: Socket[] = [];
  const largest = 500;
  while (open.length < largest) {
    const socket = connect(ports[open.length % 2]!, '127.0.0.1').on('error', () => {});
    t.teardown(() => socket.destroy());
    socket.write(greetings[open.length % 2]!);
    // Only then has the proxy counted it.
    await once(socket, 'data');
    open.push(socket);
  }
  t.equal(await ask('127.0.0.1'), undefined, 'this one has its share');
  t.equal(await ask('127.0.0.2'), 'HTTP/1.1 200', 'another one is served');
  for (const socket of open.slice(largest / 2)) socket.destroy();
  let answer: string | undefined;
  while (answer === undefined) answer = await ask('127.0.0.1');
  t.equal(answer, 'HTTP/1.1 200', 'a connection that ends makes room');
});
