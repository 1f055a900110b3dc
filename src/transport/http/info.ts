import type { FastifyInstance } from 'fastify';
import { fromServerInfo } from '../answers.js';
import { MESSAGE_TYPES } from './content-types.js';
import { chooseType } from './media.js';
import { sendMessage } from './message-body.js';
import type { DoorOptions } from './options.js';
import { infoSchema } from './schemas.js';

/** GET /v1: version, engines, limits, defaults and features. */
export async function info(app: FastifyInstance, { operations }: DoorOptions): Promise<void> {
  app.get('/v1', { schema: infoSchema() }, async (request, reply) => {
    const type = chooseType(request, MESSAGE_TYPES);
    return sendMessage(reply, 'ServerInfo', fromServerInfo(operations.info()), type);
  });
}
