import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server, constants as http2 } from 'node:http2';
import { type AddressInfo, connect, type Server } from 'node:net';
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
  t.teardown(() => reports.close(0));
  // A call is answered when all of it has come.
  const streams = createHttp2Server().on('stream', (stream) => {
    stream.resume().once('end', () => {
      // A caller that has gone wants no answer.
      if (stream.destroyed) return;
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
  // In turn by weight: where in the turn the first one comes shifts the count by one at most, which is what is allowed
  // here, twice.
  t.ok(Math.abs(created[1]!.length - 8) <= 2, `of 40, ${created[1]!.length} came to the one that offers a fifth`);
  capacities.reverse();
  await weightsAre(20, 80);
  for (const step of [...steps, ...steps]) await step();
  t.same(strayed, [], 'other weights move no session');
});

t.test('every call of a job reaches the process that has it', { skip: lacksCluster }, async (t) => {
  const accepted: string[][] = [[], []];
  const strayed: string[] = [];
  const backends = [0, 1].map((k) =>
    openBackend(t, `w${k + 1}`, (request, response) => {
      if (request.method === 'POST') {
        const id = `job-${k}-${accepted[k]!.length}`;
        accepted[k]!.push(id);
        response.writeHead(202, { location: `/v1/jobs/${id}` }).end(id);
        return;
      }
      if (!accepted[k]!.includes(request.url!.split(/[/?]/)[3]!)) strayed.push(`${k}: ${request.url}`);
      response.end();
    }),
  );
  const { address } = await startProxy(t, await Promise.all(backends));
  /** On a connection of its own. */
  const call = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const sent = request(`${address}${path}`, { method, headers, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return (await response.setEncoding('utf8').toArray()).join('');
  };

  for (let k = 0; k < 10; k++) {
    const id = await call('POST', '/v1/jobs', k % 2 === 0 ? {} : { 'x-session-id': `key-of-job-${k}` });
    // Clients have a key of their own for each object, so a job that is found again has another one.
    const keys: Record<string, string>[] = [
      {},
      { 'x-session-id': `key-of-job-${k}` },
      { 'x-session-id': `another-${k}` },
    ];
    for (const headers of keys)
      for (const path of [`/v1/jobs/${id}?wait=1s`, `/v1/jobs/${id}/watch`, `/v1/jobs/${id}/result`])
        await call('GET', path, headers);
    await call('DELETE', `/v1/jobs/${id}`);
  }
  t.same(strayed, []);
  t.ok(accepted[0]!.length > 0 && accepted[1]!.length > 0, 'both are used');

  const before = accepted.map(({ length }) => length);
  for (let k = 0; k < 8; k++) await call('POST', '/v1/jobs', { 'x-session-id': 'one-submission' });
  const more = accepted.map(({ length }, k) => length - before[k]!).sort();
  t.same(more, [0, 8], 'a submission that is sent again reaches the same process');
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

t.test('one source cannot take every connection', { skip: lacksCluster }, async (t) => {
  // An answer that has begun holds its connection for as long as the test likes.
  const backend = await openBackend(t, 'w1', ({ url }, response) =>
    url === '/v1/hold' ? response.flushHeaders() : response.end(),
  );
  const proxy = await startProxy(t, [backend]);
  const port = Number(new URL(proxy.address).port);
  const send = (from: string, path: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from }).setEncoding('utf8');
    t.teardown(() => socket.destroy());
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    return socket;
  };
  /** Undefined if the proxy closes the connection, else how its answer begins. */
  const ask = async (from: string) => {
    const socket = send(from, '/v1');
    const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => []);
    return typeof data === 'string' ? data.slice(0, 'HTTP/1.1 200'.length) : undefined;
  };
  const session = connectHttp2(`http://${proxy.grpcAddress}`);
  t.teardown(() => session.destroy());
  session.request({ ':method': 'POST', ':path': '/interstice.v1.Interstice/StepStream' }).write('half');
  await once(session, 'remoteSettings');
  // With the one of the stream these are all that it may have.
  await Promise.all(Array.from({ length: 499 }, () => once(send('127.0.0.1', '/v1/hold'), 'data')));
  t.equal(await ask('127.0.0.1'), undefined, 'this one has its share');
  t.equal(await ask('127.0.0.2'), 'HTTP/1.1 200', 'another one is served');
});
