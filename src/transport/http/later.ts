import type { FastifyInstance } from 'fastify';
import { IntersticeError } from '../../errors.js';

/** Paths of the contract that are not built yet answer so, rather than as unknown. */
export async function later(app: FastifyInstance): Promise<void> {
  const refuse = async () => {
    throw new IntersticeError('UNIMPLEMENTED', 'Sessions are not built yet.', {
      hint: 'Send each pair to POST /v1/resolve.',
    });
  };
  for (const url of ['/v1/sessions', '/v1/sessions/*']) {
    app.route({
      method: ['GET', 'POST', 'PATCH', 'DELETE'],
      url,
      schema: { hide: true },
      onRequest: refuse,
      handler: refuse,
    });
  }
}
