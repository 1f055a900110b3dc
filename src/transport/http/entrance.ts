import type { FastifyInstance } from 'fastify';
import { packageVersion } from '../../paths.js';

/** Where to go from the root; relative, since a proxy may add a prefix. */
const PLACES = {
  reference: 'docs',
  openapi: 'openapi.json',
  server: 'v1',
  resolve: 'v1/resolve',
  sessions: 'v1/sessions',
  ready: 'readyz',
} as const;

/** GET /: leads a person with a browser to the reference, and tells a program where things are. */
export async function entrance(app: FastifyInstance): Promise<void> {
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    reply.header('vary', 'accept, origin');
    if (request.accepts().type(['application/json', 'text/html']) === 'text/html')
      return reply.redirect(PLACES.reference);
    return { service: 'interstice', version: packageVersion, ...PLACES };
  });
}
