import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { packageVersion } from '../../paths.js';
import { contractSchemas, schemaOf } from '../json/json-schema.js';
import { messageShape } from '../json/schema.js';
import { TAGS } from './schema-parts.js';
import { problemSchema } from './schemas.js';

/**
 * What the page at /docs may load. The plugin's own policy also has browsers ask for https, and so shows an empty page
 * wherever the service is reached by plain http from another machine.
 */
const PAGE_POLICY =
  "default-src 'self'; base-uri 'self'; frame-ancestors 'self'; img-src 'self' data:; object-src 'none'; script-src 'self'; script-src-attr 'none'; style-src 'self'";

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
        tags: [...TAGS],
      },
      refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
    });
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: PAGE_POLICY,
      uiConfig: { docExpansion: 'list', defaultModelsExpandDepth: 0 },
      // The bar only offers to look at other services' documents.
      theme: {
        title: 'Interstice',
        css: [{ filename: 'interstice.css', content: '#swagger-ui .topbar { display: none }' }],
      },
    });
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  },
  { name: 'openapi' },
);
