import fp from 'fastify-plugin';
import type { HttpOptions } from './options.js';

/** Routes without a key: the root with the page, health for orchestrators, and the API reference. */
const PUBLIC = new Set(['/', '/livez', '/readyz', '/openapi.json', '/docs']);

/** @param route pattern of the matched route, not the URL: `/%76%31/resolve` also matches `/v1/resolve` */
const isPublic = (route: string): boolean =>
  PUBLIC.has(route) || route.startsWith('/docs/') || route.startsWith('/page/');

/** Requires an API key, if the service has keys, before the body is read. */
export const auth = fp<HttpOptions>(
  async (app, { authenticate }) => {
    app.decorateRequest('caller', undefined);
    if (!authenticate) return;
    app.addHook('onRequest', async (request, reply) => {
      const route = request.routeOptions.url;
      // Unknown paths need no protection, except that callers without a key must not learn which paths below /v1 exist.
      if (route === undefined ? !request.url.startsWith('/v1') : isPublic(route)) return;
      try {
        request.caller = authenticate((name) => {
          const value = request.headers[name];
          return Array.isArray(value) ? value.join(', ') : value;
        });
      } catch (thrown) {
        reply.header('www-authenticate', 'Bearer');
        throw thrown;
      }
    });
  },
  { name: 'auth', dependencies: ['errors'] },
);
