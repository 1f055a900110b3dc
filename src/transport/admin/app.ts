import Fastify, { type FastifyInstance } from 'fastify';
import type { Metrics } from '../../observe/metrics.js';
import { health } from '../http/health.js';
import type { ServiceState } from '../service-state.js';

export interface AdminOptions {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly state: ServiceState;
  /** Effective settings; none of them is secret. */
  readonly settings: unknown;
}

/**
 * Builds the server of the admin port, which does not listen yet: GET /metrics, /livez, /readyz and /config. It stays open
 * until the drain is complete.
 */
export async function buildAdminApp({ metrics, state, settings }: AdminOptions): Promise<FastifyInstance> {
  const app = Fastify({ logger: false, return503OnClosing: false, forceCloseConnections: true });
  app.setErrorHandler((_thrown, _request, reply) => reply.code(500).send({ error: 'The page could not be created.' }));
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'The admin port has only GET /metrics, /livez, /readyz and /config.' }),
  );
  await app.register(health, { state });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  app.get('/config', async () => ({ settings }));
  return app;
}
