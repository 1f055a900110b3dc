import fp from 'fastify-plugin';
import { IntersticeError } from '../../contract/errors.js';
import type { DoorOptions } from './options.js';

/** Paths that do work: they count as in flight and are refused while the server drains. */
export const WORK_PREFIX = '/v1/';

/** Unknown paths, methods that a path does not have, and work that comes while the server drains. */
export const paths = fp<DoorOptions>(
  async (app, { state }) => {
    const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
    app.addHook('onRoute', ({ url, method }) => {
      const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
      for (const one of [method].flat()) route.methods.add(one);
      routes.set(url, route);
    });
    app.addHook('onRequest', async (request, reply) => {
      const path = request.url.split('?', 1)[0] ?? '';
      if (request.is404) {
        const allowed = [...routes.values()].find(({ pattern }) => pattern.test(path))?.methods;
        if (!allowed) throw new IntersticeError('NOT_FOUND', `There is nothing at ${path.slice(0, 200)}.`);
        const list = [...allowed].sort().join(', ');
        reply.header('allow', list);
        throw new IntersticeError('METHOD_NOT_ALLOWED', `${path} does not take ${request.method}.`, {
          hint: `Use ${list}.`,
        });
      }
      // The pattern that answers, not what was sent: an escaped path leads to the same place.
      if (!request.routeOptions.url?.startsWith(WORK_PREFIX)) return;
      if (state.phase === 'draining') {
        throw new IntersticeError('DRAINING', state.reason, { retryAfterSeconds: 1 });
      }
      state.enter();
      reply.raw.once('close', () => state.leave());
    });
    // The hook has answered already; Fastify wants a handler all the same.
    app.setNotFoundHandler(() => {
      throw new IntersticeError('NOT_FOUND', 'There is nothing here.');
    });
  },
  { name: 'paths', dependencies: ['errors'] },
);

/** `/v1/sessions/:id` fits every path with one more segment. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+';
    return segment === '*' ? '.*' : segment.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
