import type { AddressInfo } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { readConfig } from '../../src/config/config.js';
import { createOperations, type OperationsOptions } from '../../src/session/operations.js';
import { buildHttpApp } from '../../src/transport/http/app.js';
import { BodyLedger } from '../../src/transport/intake/body-ledger.js';
import { ServiceState } from '../../src/transport/service-state.js';

/** What goes wrong, once each, in this order; `undefined` lets one request pass. */
export type Mishap =
  /** the connection breaks before the work is begun */
  | 'break-before'
  /** the work is done and kept, the answer is lost */
  | 'lose-answer'
  | ((request: FastifyRequest, reply: FastifyReply) => void)
  | undefined;

/** The real service over the real HTTP door, with mishaps on order. */
export interface Service {
  readonly url: string;
  readonly port: number;
  /** method and path of every request */
  readonly seen: { line: string; headers: Record<string, unknown> }[];
  /** what happens to the next requests whose path matches; the answer takes back what has not happened yet */
  plan(path: RegExp, ...mishaps: Mishap[]): () => void;
  close(): Promise<void>;
}

/**
 * @param store closed with the service
 * @throws what opening the engine throws: INVALID_PARAMETER where there is no adapter
 */
export async function openService(
  port = 0,
  engineName: 'cpu' | 'webgpu' = 'cpu',
  store?: OperationsOptions['store'],
): Promise<Service> {
  const { engine, threads, limits, allowUnverified } = readConfig({
    INTERSTICE_ENGINE: engineName,
    INTERSTICE_THREADS: '1',
  });
  const operations = await createOperations({ engine, threads, limits, allowUnverified, ...(store ? { store } : {}) });
  const state = new ServiceState();
  const log = pino({ level: 'silent' });
  const app = await buildHttpApp({
    operations,
    state,
    bodies: new BodyLedger(0),
    maxMessageBytes: limits.maxMessageBytes,
    log,
  });
  const seen: Service['seen'] = [];
  const plans: { path: RegExp; mishaps: Mishap[] }[] = [];
  const losing = new WeakSet<FastifyRequest>();
  app.addHook('preHandler', async (request, reply) => {
    seen.push({ line: `${request.method} ${request.url.split('?')[0]}`, headers: request.headers });
    const plan = plans.find(({ path, mishaps }) => mishaps.length > 0 && path.test(`${request.method} ${request.url}`));
    const mishap = plan?.mishaps.shift();
    if (mishap === 'break-before') reply.raw.destroy();
    else if (mishap === 'lose-answer') losing.add(request);
    else mishap?.(request, reply);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (losing.has(request)) reply.raw.destroy();
    return payload;
  });
  await operations.ready();
  state.move('ready', 'The service takes requests.');
  await app.listen({ host: '127.0.0.1', port });
  const address = app.server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    seen,
    plan: (path, ...mishaps) => {
      plans.push({ path, mishaps });
      return () => mishaps.splice(0);
    },
    close: () =>
      (closing ??= (async () => {
        app.server.closeAllConnections();
        await app.close();
        await operations.close();
      })()),
  };
}
