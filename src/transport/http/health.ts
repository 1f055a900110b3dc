import type { FastifyInstance } from 'fastify';
import type { ServiceState } from '../service-state.js';
import { healthSchema } from './operation-schemas.js';

/** GET /livez: whether the process answers. GET /readyz: whether it takes requests, with the reason if not. */
export async function health(app: FastifyInstance, { state }: { readonly state: ServiceState }): Promise<void> {
  app.get('/livez', { schema: healthSchema('Whether the process answers.') }, async () => ({ status: 'ok' }));
  app.get('/readyz', { schema: healthSchema('Whether the service takes requests.') }, async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    if (state.phase !== 'ready') reply.code(503);
    return { status: state.phase, reason: state.reason };
  });
}
