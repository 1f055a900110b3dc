import Fastify, { type FastifyInstance } from 'fastify';
import { ERRORS, IntersticeError } from '../../contract/errors.js';
import type { Metrics } from '../../observe/metrics.js';
import type { BrowserGuard } from '../browser-guard.js';
import { health } from '../http/health.js';
import type { ServiceState } from '../service-state.js';

export interface AdminOptions {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly state: ServiceState;
  /** Effective settings; none of them is secret. */
  readonly settings: unknown;
  /** Absent: every host and origin is served. */
  readonly guard?: BrowserGuard;
}

/**
 * Builds the server of the admin port (not listening yet): GET /metrics, /livez, /readyz and /config. It stays open
 * until the drain is complete.
 */
export async function buildAdminApp({ metrics, state, settings, guard }: AdminOptions): Promise<FastifyInstance> {
  const app = Fastify({ logger: false, return503OnClosing: false, forceCloseConnections: true });
  app.setErrorHandler((thrown, _request, reply) => {
    if (!(thrown instanceof IntersticeError)) {
      // Errors of the framework about the request: no page here takes a body.
      const { statusCode = 500, message } = thrown as { statusCode?: number; message: string };
      if (statusCode >= 400 && statusCode < 500) return reply.code(statusCode).send({ error: message });
      return reply.code(500).send({ error: 'The page could not be created.' });
    }
    return reply.code(ERRORS[thrown.code].http).send({ error: thrown.message, hint: thrown.hint });
  });
  app.addHook('onRequest', async ({ raw }) => guard?.check(raw.headers.host, raw.headers.origin));
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'The admin port has only GET /metrics, /livez, /readyz and /config.' }),
  );
  await app.register(health, { state });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  app.get('/config', async () => ({ settings }));
  return app;
}
