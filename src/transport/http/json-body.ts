import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { JsonCoder } from '../json/coder.js';
import type { DecodedJson } from '../json/decode.js';
import { abortOnHangUp } from './disconnect.js';
import { jsonLimitOf, unsupportedType } from './errors.js';
import type { DoorOptions } from './options.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** message of the contract that a body in JSON is read as, before the handler is called */
    readonly message?: string;
  }
  interface FastifyInstance {
    /** reads and writes large JSON beside the event loop; closed with the door */
    readonly jsonCoder: JsonCoder;
  }
}

/** A body that has come and is not read yet. */
class JsonText {
  constructor(readonly bytes: Buffer) {}
}

/** A body in JSON that was read. */
export class JsonBody {
  constructor(readonly decoded: DecodedJson) {}
}

/** Bodies in JSON: once they are here they are read as the message that their route says, large ones on a thread. */
export const jsonBody = fp<DoorOptions>(
  async (app, options) => {
    const onLost = (reason: Error) =>
      options.log.error({ err: reason }, 'the thread that reads and writes JSON was lost');
    const coder = new JsonCoder({ onLost, ...options.json });
    app.decorate('jsonCoder', coder);
    app.addHook('onClose', () => coder.close());
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer', bodyLimit: jsonLimitOf(options) },
      async (request: FastifyRequest, body: Buffer) => {
        const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
        if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
          throw unsupportedType(request.headers['content-type'], ['application/json; charset=utf-8']);
        }
        return new JsonText(body);
      },
    );
    // Before the hook that tells the operations of the body's arrival: one that waits for the thread is counted as on its way.
    app.addHook('preValidation', async (request, reply) => {
      if (!(request.body instanceof JsonText)) return;
      const { bytes } = request.body;
      const type = request.routeOptions.config.message;
      const asker = { tenant: request.caller?.tenant, signal: abortOnHangUp(reply) };
      const reading = await coder.read({ type, bytes, what: 'The body', path: '' }, asker);
      if ('refusal' in reading) throw reading.refusal;
      request.body = new JsonBody(reading.decoded);
    });
  },
  { name: 'json-body', dependencies: ['media'] },
);
