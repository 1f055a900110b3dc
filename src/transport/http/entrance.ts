import type { FastifyInstance } from 'fastify';
import { packageVersion } from '../../paths.js';
import type { HttpOptions } from './options.js';
import { addPage } from './page.js';

/** Where to go from the root; relative, since a proxy may add a prefix. */
const PLACES = {
  reference: 'docs',
  openapi: 'openapi.json',
  server: 'v1',
  resolve: 'v1/resolve',
  sessions: 'v1/sessions',
  ready: 'readyz',
} as const;

/** GET /: shows the page to a person with a browser, or the reference where there is none, and tells a program where things are. */
export async function entrance(app: FastifyInstance, { pageFolder }: Pick<HttpOptions, 'pageFolder'>): Promise<void> {
  const sendPage = addPage(app, pageFolder);
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    reply.header('vary', 'accept, origin');
    if (request.accepts().type(['application/json', 'text/html']) === 'text/html')
      return sendPage ? sendPage(request, reply) : reply.redirect(PLACES.reference);
    return { service: 'interstice', version: packageVersion, ...PLACES };
  });
}
