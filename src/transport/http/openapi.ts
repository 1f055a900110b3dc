import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { ERRORS } from '../../contract/errors.js';
import { packageVersion } from '../../paths.js';
import { messageShape } from '../messages/schema.js';
import { exampleProblem } from './examples.js';
import { contractSchemas, type Schema, schemaOf } from './json-schema.js';
import { TAGS } from './operation-schemas.js';
import type { HttpOptions } from './options.js';

/**
 * Content security policy of /docs. The default of the plugin also upgrades requests to https, which leaves the page
 * empty if the service is reached by plain http from another machine.
 */
const PAGE_POLICY =
  "default-src 'self'; base-uri 'self'; frame-ancestors 'self'; img-src 'self' data:; object-src 'none'; script-src 'self'; script-src-attr 'none'; style-src 'self'";

/** If the service has keys, the page gets a button "Authorize", and sends the key with requests that are tried out. */
const KEY_REQUIRED = {
  components: { securitySchemes: { key: { type: 'http' as const, scheme: 'bearer', description: 'An API key.' } } },
  security: [{ key: [] }],
};

/**
 * GET /openapi.json and the page at /docs with its scripts and styles. The schemas are documentation only: they do not
 * validate requests or answers, because the decoder is stricter than JSON Schema can be.
 */
export const openapi = fp<Pick<HttpOptions, 'authenticate'>>(
  async (app: FastifyInstance, { authenticate }) => {
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
            'Collision handling: send an intersection-free state and a target, and receive an intersection-free state. ' +
            'Lengths are in the unit of the positions, the timings of a report in microseconds, durations in seconds ("1.5s"), sizes in bytes.',
          license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
        tags: [...TAGS],
        ...(authenticate ? KEY_REQUIRED : {}),
      },
      refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
    });
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: PAGE_POLICY,
      uiConfig: { docExpansion: 'list', defaultModelsExpandDepth: 0 },
      // The top bar only loads documents of other services.
      theme: {
        title: 'Interstice',
        css: [{ filename: 'interstice.css', content: '#swagger-ui .topbar { display: none }' }],
      },
    });
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  },
  { name: 'openapi' },
);

/** RFC 9457 members around the contract's `Error`. */
function problemSchema(errorSchema: Schema): Schema {
  return {
    ...errorSchema,
    $id: 'Problem',
    description: 'RFC 9457 problem document with the fields of Error.',
    examples: [exampleProblem()],
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      instance: { type: 'string' },
      ...(errorSchema.properties as Schema),
      code: { type: 'string', enum: Object.keys(ERRORS) },
    },
  };
}
