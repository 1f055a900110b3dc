import accepts from '@fastify/accepts';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { IntersticeError } from '../../contract/errors.js';
import type { BodyType } from './content-types.js';
import { unsupportedType } from './errors.js';

/**
 * The first of the offered types that the caller accepts most.
 * @throws NOT_ACCEPTABLE
 */
export function chooseType<T extends string>(request: FastifyRequest, offers: readonly T[]): T {
  const chosen = request.accepts().type([...offers]);
  if (typeof chosen === 'string') return chosen as T;
  throw new IntersticeError(
    'NOT_ACCEPTABLE',
    `The accept header ${JSON.stringify(request.headers.accept)} leaves nothing that this path answers with.`,
    { hint: `Accept ${offers.join(' or ')}.` },
  );
}

/** The offers with the request's own type first: who says nothing about the answer gets what they sent. */
export function ownTypeFirst<T extends string>(own: string, offers: readonly T[]): readonly T[] {
  return [...offers].sort((a, b) => Number(b === own) - Number(a === own));
}

/**
 * The media type of the body, without its parameters.
 * @throws UNSUPPORTED_MEDIA_TYPE for a type that this path does not take, or none: Fastify would hand over an empty
 *   body without one as if nothing had been sent
 */
export function takeType<T extends BodyType>(request: FastifyRequest, taken: readonly T[]): T {
  const given = request.headers['content-type'];
  const essence = given?.split(';', 1)[0]?.trim().toLowerCase();
  const type = taken.find((one) => one === essence);
  if (type === undefined) throw unsupportedType(given, taken);
  return type;
}

/** How bodies are read, those in JSON aside. Which of them a path takes it says itself, see {@link takeType}. */
export const media = fp(
  async (app) => {
    await app.register(accepts);
    app.removeAllContentTypeParsers();
    app.addHook('onRequest', async (request) => {
      const encoding = request.headers['content-encoding'];
      if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
        throw new IntersticeError(
          'UNSUPPORTED_MEDIA_TYPE',
          `The content-encoding ${JSON.stringify(encoding)} is not taken; send the body as it is.`,
        );
      }
    });
    app.addContentTypeParser(
      ['application/x-protobuf', 'application/octet-stream'],
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: Buffer) => body,
    );
  },
  { name: 'media', dependencies: ['errors'] },
);

/** No query changes what these paths do: one that is sent was meant to, so it is refused. */
export function refuseQuery(request: FastifyRequest): void {
  const [name] = Object.keys(request.query as Record<string, unknown>);
  if (name === undefined) return;
  throw new IntersticeError(
    'UNKNOWN_FIELD',
    `The query parameter ${JSON.stringify(name.slice(0, 100))} is not taken.`,
    {
      hint: 'Send everything in the body.',
    },
  );
}
