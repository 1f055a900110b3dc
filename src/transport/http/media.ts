import accepts from '@fastify/accepts';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { IntersticeError } from '../../errors.js';
import { parseJson } from '../json/parse.js';
import { LATER_TYPES, TAKEN_TYPES } from './content-types.js';
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

/** Which bodies are taken and how JSON is read; any other type is refused before its body is. */
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
      for (const type of LATER_TYPES) {
        if (request.headers['content-type']?.toLowerCase().startsWith(type)) {
          throw new IntersticeError('UNIMPLEMENTED', `Bodies of type ${type} are not built yet.`, {
            hint: `Send ${TAKEN_TYPES.join(' or ')}.`,
          });
        }
      }
    });
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
        if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw unsupportedType(request.headers['content-type']);
        return parseJson(body);
      },
    );
  },
  { name: 'media', dependencies: ['errors'] },
);

/** Without a content-type Fastify would hand over an empty body as if none had been sent. */
export function refuseUntyped(request: FastifyRequest): void {
  if (request.headers['content-type'] === undefined) throw unsupportedType(undefined);
}

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
