import type { FastifyInstance } from 'fastify';
import { fromServerInfo } from '../answers.js';
import { encodeJson } from '../json/encode.js';
import { JSON_TYPE } from './content-types.js';
import { chooseType } from './media.js';
import type { DoorOptions } from './options.js';
import { infoSchema } from './schemas.js';

/** GET /v1: version, engines, limits, defaults and features. */
export async function info(app: FastifyInstance, { operations }: DoorOptions): Promise<void> {
  app.get('/v1', { schema: infoSchema() }, async (request, reply) => {
    chooseType(request, ['application/json']);
    reply.type(JSON_TYPE);
    return JSON.stringify(encodeJson('ServerInfo', fromServerInfo(operations.info()), { arrays: false }));
  });
}
