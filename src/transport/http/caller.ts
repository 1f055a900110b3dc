import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallContext, Caller } from '../../contract/call-context.js';
import { abortOnHangUp } from './disconnect.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** who showed a key; undefined where nobody has to */
    caller?: Caller;
  }
}

/** What the operations are told about a call. To be asked for before the body is awaited, so that no hang-up is missed. */
export function contextOf(request: FastifyRequest, reply: FastifyReply): CallContext {
  return {
    caller: request.caller,
    requestId: request.id,
    signal: abortOnHangUp(reply),
    receivedAt: request.receivedAt,
    // Bodies are read into memory of their own, and nothing looks at one after it was decoded.
    isHandedOver: true,
    header: (name) => request.headers[name]?.toString(),
  };
}
