import Fastify, { type FastifyInstance } from 'fastify';
import type { Metrics } from '../../observe/metrics.js';
import { health } from '../http/health.js';
import type { ServiceState } from '../service-state.js';

export interface AdminOptions {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly state: ServiceState;
  /** every setting as it holds; nothing in it is a secret */
  readonly settings: unknown;
}

/**
 * The port of those who run the service, not yet listening: GET /metrics, /livez, /readyz, /config, and nothing else. It
 * takes no bodies and does no work, and it stays open until a drain is over.
 */
export async function buildAdminApp({ metrics, state, settings }: AdminOptions): Promise<FastifyInstance> {
  const app = Fastify({ logger: false, return503OnClosing: false, forceCloseConnections: true });
  app.setErrorHandler((_thrown, _request, reply) => reply.code(500).send({ error: 'this page could not be made' }));
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'GET /metrics, /livez, /readyz and /config are all there is' }),
  );
  await app.register(health, { state });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  app.get('/config', async () => ({ settings }));
  return app;
}
