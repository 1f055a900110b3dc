import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { lacksCluster } from '../../bench/cluster/cluster.js';
import { type Backend, HaProxy } from '../../bench/cluster/ha-proxy.js';
import { openCapacity } from '../../src/transport/admin/capacity.js';

/** Where deploy/haproxy.cfg sends requests. Its servers only count them; bench/cluster has real ones. */

// A machine that does much else takes long to start programs; nothing is judged by time.
t.setTimeout(600_000);

t.test('new sessions go where capacity is free, and stay there', { skip: lacksCluster }, async (t) => {
  const created: string[][] = [[], []];
  const strayed: string[] = [];
  const capacities = [80, 20];
  const keyOf = ({ headers, url }: IncomingMessage) => String(headers['x-session-id'] ?? url!.split('/')[3]);
  const backends: Backend[] = [];
  for (const k of [0, 1]) {
    const server = createServer((request, response) => {
      if (request.url === '/v1/sessions') {
        const id = `id-${k}-${created[k]!.length}`;
        const key = String(request.headers['x-session-id'] ?? id);
        created[k]!.push(key);
        response.writeHead(201, { location: `/v1/sessions/${id}` }).end(id);
        return;
      }
      if (request.url !== '/readyz' && !created[k]!.includes(keyOf(request))) strayed.push(`${k}: ${request.url}`);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const capacity = await openCapacity('127.0.0.1', 0, () => capacities[k]!);
    t.teardown(async () => {
      server.close().closeAllConnections();
      await capacity.close();
    });
    const { port } = server.address() as AddressInfo;
    backends.push({ name: `w${k + 1}`, http: port, grpc: port, capacity: capacity.port });
  }
  const proxy = await HaProxy.start(backends);
  t.teardown(() => proxy.stop());
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
