import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { packageVersion } from '../../paths.js';
import { contractSchemas, schemaOf } from '../json/json-schema.js';
import { messageShape } from '../json/schema.js';
import { problemSchema } from './schemas.js';

/**
 * GET /openapi.json and the page at /docs, whose scripts and styles come from this server. The schemas serve the
 * reference alone: neither bodies nor answers pass through them, the decoder is stricter than JSON Schema can be.
 */
export const openapi = fp(
  async (app: FastifyInstance) => {
    app.setValidatorCompiler(() => () => true);
    app.setSerializerCompiler(() => (data) => JSON.stringify(data));
    for (const schema of contractSchemas()) app.addSchema(schema);
    app.addSchema(problemSchema(schemaOf(messageShape('Error'))));
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Interstice',
          version: packageVersion,
          description:
            'Collision handling: send an intersection-free state and where it should go, get back a state that never intersects.',
          license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
      },
      refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
    });
    await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, uiConfig: { docExpansion: 'list' } });
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  },
  { name: 'openapi' },
);
