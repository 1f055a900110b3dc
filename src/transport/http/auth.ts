import fp from 'fastify-plugin';
import type { DoorOptions } from './options.js';

/** What everybody may see: health, for orchestrators, and the reference. */
const OPEN = new Set(['/livez', '/readyz', '/openapi.json', '/docs']);

/** @param route the pattern that answers, not what was sent: `/%76%31/resolve` leads to `/v1/resolve` as well */
const isOpen = (route: string): boolean => OPEN.has(route) || route.startsWith('/docs/');

/** Every path but the open ones needs a key, where there are keys at all; asked for before the body is read. */
export const auth = fp<DoorOptions>(
  async (app, { authenticate }) => {
    app.decorateRequest('caller', undefined);
    if (!authenticate) return;
    app.addHook('onRequest', async (request, reply) => {
      const route = request.routeOptions.url;
      // Without a route there is nothing to guard, but who has no key is not told which paths exist below /v1.
      if (route === undefined ? !request.url.startsWith('/v1') : isOpen(route)) return;
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
