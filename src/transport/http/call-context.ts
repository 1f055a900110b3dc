import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { CallContext, Caller } from '../../contract/call-context.js';
import { packageVersion } from '../../paths.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** performance.now() when the head of the request had arrived. */
    receivedAt: number;
    /** undefined on a service without API keys. */
    caller?: Caller;
    /** Code of the error that answers the request, for the log. */
    errorCode: string | undefined;
  }
}

/**
 * Listeners that one answer may have: everything that follows a request to its end adds one, and Node warns of a leak
 * beyond ten.
 */
const MAX_LISTENERS = 20;

/** Sets the time of arrival, and the headers of every answer: id of the request and version of the service. */
export const identity = fp(
  async (app) => {
    app.decorateRequest('receivedAt', 0);
    app.addHook('onRequest', async (request, reply) => {
      request.receivedAt = performance.now();
      reply.raw.setMaxListeners(MAX_LISTENERS);
      reply.header('x-request-id', request.id).header('interstice-version', packageVersion);
    });
  },
  { name: 'identity' },
);

/** The context of a call. Create it before the body is read, so that an early disconnect is noticed. */
export function contextOf(request: FastifyRequest, reply: FastifyReply): CallContext {
  return {
    ...headContextOf(request),
    signal: signalOf(reply),
    // Bodies are read into new memory, and nothing else uses them after decoding.
    isHandedOver: true,
  };
}

/** The context of a preflight, from the head of a request. */
export function headContextOf(request: FastifyRequest): CallContext {
  return {
    caller: request.caller,
    requestId: request.id,
    receivedAt: request.receivedAt,
    header: (name) => request.headers[name]?.toString(),
  };
}

/** One signal per answer: with a listener for each user there would be a dozen. */
const signals = new WeakMap<ServerResponse, AbortSignal>();

/**
 * A signal that is aborted when the caller disconnects before the answer is complete. It follows the response: the
 * signal of the request is aborted as soon as the body has been read.
 */
export function signalOf({ raw }: FastifyReply): AbortSignal {
  const known = signals.get(raw);
  if (known) return known;
  const controller = new AbortController();
  signals.set(raw, controller.signal);
  // Not writableFinished, which asks the connection: app.inject has one that never takes anything.
  let isComplete = raw.writableFinished;
  const onClose = () => {
    if (!isComplete) controller.abort();
  };
  if (raw.destroyed) onClose();
  else {
    raw.once('finish', () => {
      isComplete = true;
    });
    raw.once('close', onClose);
  }
  return controller.signal;
}
