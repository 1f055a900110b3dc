import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/config/config.js';
import { projectRoot } from '../../src/paths.js';
import { startServer } from '../../src/server/server.js';
import { openOperations } from '../conformance/run.js';
import { openTab, skipWithoutChromium } from '../support/chromium.js';
import { FakeOperations } from '../transport/fake-operations.js';

/** A site of somebody else: an empty page, and the compiled client as it is published. @returns its port */
async function openSite(t: Test): Promise<number> {
  const site = createServer((request, response) => {
    const path = request.url ?? '/';
    if (/^\/(client|contract)\/[\w-]+\.js$/.test(path)) {
      response.setHeader('content-type', 'text/javascript');
      response.end(readFileSync(join(projectRoot, 'dist', 'src', path)));
    } else response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  t.teardown(() => {
    site.closeAllConnections();
    site.close();
  });
  return (site.address() as AddressInfo).port;
}

async function openServer(t: Test, settings: Record<string, string>, operations = new FakeOperations()) {
  const environment = { INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' };
  const options = { log: pino({ level: 'silent' }), handleSignals: false };
  const server = await startServer(readConfig({ ...environment, ...settings }), operations, options);
  t.teardown(() => server.close());
  return { url: server.address, operations };
}

/** In the page: a session on two triangles, one above the other, whose lower one shall pass through the upper one. */
const useClient = (url: string) => `(async () => {
  const { Client, ServiceError } = await import('/client/index.js');
  const client = new Client(${JSON.stringify(url)}, { retry: { attempts: 1 } });
  const start = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1]);
  const target = start.map((value, i) => (i < 9 && i % 3 === 2 ? 2 : value));
  const mesh = { vertexCount: 6, triangles: new Uint32Array([0, 1, 2, 3, 4, 5]) };
  try {
    const session = await client.session(mesh, start);
    const { positions, report } = await session.step(target, { timeBudgetSeconds: 60 });
    const isClosed = await session.close();
    const check = await client.check(mesh, positions);
    const refusal = await client.resolve({ vertexCount: 2 }, start, target).catch((error) => error);
    return { z: [...positions].filter((_, i) => i % 3 === 2), status: report.status, isClosed, isFree: check.intersectionFree, code: refusal.code };
  } catch (error) {
    return { code: error instanceof ServiceError ? error.code : String(error) };
  }
})()`;

t.test('a web page uses the TypeScript client once its origin is allowed', { skip: skipWithoutChromium }, async (t) => {
  const port = await openSite(t);
  const origin = `http://127.0.0.1:${port}`;
  const page = await openTab(t);
  const operations = (await openOperations(t)) as unknown as FakeOperations;
  const { url } = await openServer(t, { INTERSTICE_CORS_ORIGINS: origin }, operations);
  await page.goto(origin);
  const used = await page.evaluate<{ z: number[] }>(useClient(url));
  t.match(used, { status: String, isClosed: true, isFree: true, code: 'INVALID_MESH' });
  const { z } = used;
  t.ok(Math.max(...z.slice(0, 3)) < Math.min(...z.slice(3)), `${z}: the lower one is still below`);
  t.ok(Math.min(...z.slice(3)) > 1, `${z}: and has pushed the upper one`);
  const { url: closed } = await openServer(t, {});
  t.match(await page.evaluate<object>(useClient(closed)), { code: 'UNREACHABLE' }, 'CORS is off by default');
});

t.test('a page of a stranger reaches nothing', { skip: skipWithoutChromium }, async (t) => {
  const port = await openSite(t);
  const page = await openTab(t, { hosts: ['evil.example'] });
  const { url, operations } = await openServer(t, {});
  await page.goto(`http://evil.example:${port}`);
  // A form needs no permission of the service, only the answer would.
  const send = `new Promise((resolve) => {
    const form = new FormData();
    form.append('start', new Blob(['v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nf 1 2 3\\n']), 'a.obj');
    form.append('target', new Blob(['v 0 0 1\\nv 1 0 1\\nv 0 1 1\\nf 1 2 3\\n']), 'a.obj');
    fetch('${url}/v1/resolve', { method: 'POST', mode: 'no-cors', body: form }).then((a) => resolve(a.type), (e) => resolve(String(e)));
  })`;
  t.match(await page.evaluate<string>(send), /opaque|TypeError/);
  t.match(await page.evaluate<string>(`fetch('${url}/v1').then((a) => a.status, String)`), /TypeError/);
  // Its own name now leads to the service.
  await page.goto(url.replace('127.0.0.1', 'evil.example'));
  const text = await page.evaluate<string>('document.body.innerText');
  t.match(JSON.parse(text), { code: 'PERMISSION_DENIED' });
  t.equal(await page.evaluate(`fetch('/v1/resolve', { method: 'POST', body: '{}' }).then((a) => a.status)`), 403);
  t.same([operations.resolves.length, operations.preflights.length], [0, 0], 'nothing began');
});
