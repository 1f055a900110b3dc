import type { FastifyInstance } from 'fastify';
import { packageVersion } from '../../paths.js';
import type { HttpOptions } from './options.js';
import { addPage } from './page.js';

/** Links from the root; relative, because a proxy may add a prefix. */
const PLACES = {
  reference: 'docs',
  openapi: 'openapi.json',
  server: 'v1',
  resolve: 'v1/resolve',
  sessions: 'v1/sessions',
  ready: 'readyz',
} as const;

/** GET /: sends browsers the page, or the API reference if the page was not built, and other programs the links. */
export async function entrance(app: FastifyInstance, { pageFolder }: Pick<HttpOptions, 'pageFolder'>): Promise<void> {
  const sendPage = addPage(app, pageFolder);
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    reply.header('vary', 'accept, origin');
    if (request.accepts().type(['application/json', 'text/html']) === 'text/html')
      return sendPage ? sendPage(request, reply) : reply.redirect(PLACES.reference);
    return { service: 'interstice', version: packageVersion, ...PLACES };
  });
}
