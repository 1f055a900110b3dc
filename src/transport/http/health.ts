import type { FastifyInstance } from 'fastify';
import type { DoorOptions } from './options.js';
import { healthSchema } from './schemas.js';

/** GET /livez: the process answers. GET /readyz: it takes work, or says why not. */
export async function health(app: FastifyInstance, { state }: Pick<DoorOptions, 'state'>): Promise<void> {
  app.get('/livez', { schema: healthSchema('Whether the process answers.') }, async () => ({ status: 'ok' }));
  app.get('/readyz', { schema: healthSchema('Whether the service takes requests.') }, async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    if (state.phase !== 'ready') reply.code(503);
    return { status: state.phase, reason: state.reason };
  });
}
