import fp from 'fastify-plugin';
import { IntersticeError } from '../../errors.js';
import type { DoorOptions } from './options.js';

/** Paths that do work: they count as in flight and are refused while the server drains. */
export const WORK_PREFIX = '/v1/';

/** Unknown paths, methods that a path does not have, and work that comes while the server drains. */
export const paths = fp<DoorOptions>(
  async (app, { state }) => {
    const methods = new Map<string, Set<string>>();
    app.addHook('onRoute', ({ url, method }) => {
      const known = methods.get(url) ?? new Set();
      for (const one of [method].flat()) known.add(one);
      methods.set(url, known);
    });
    app.addHook('onRequest', async (request, reply) => {
      const path = request.url.split('?', 1)[0] ?? '';
      if (request.is404) {
        const allowed = methods.get(path);
        if (!allowed) throw new IntersticeError('NOT_FOUND', `There is nothing at ${path.slice(0, 200)}.`);
        const list = [...allowed].sort().join(', ');
        reply.header('allow', list);
        throw new IntersticeError('METHOD_NOT_ALLOWED', `${path} does not take ${request.method}.`, {
          hint: `Use ${list}.`,
        });
      }
      if (!path.startsWith(WORK_PREFIX)) return;
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
