import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { logRequest, type RequestLine } from '../../observe/log.js';
import type { HttpOptions } from './options.js';

const bytesOf = (header: unknown): number | undefined => {
  const value = Number(header);
  return header === undefined || Number.isNaN(value) ? undefined : value;
};

/** Logs one line per request, even if the caller disconnected before it had the answer. */
export const requestLog = fp<HttpOptions>(
  async (app, { log, onAnswered }) => {
    const write = (request: FastifyRequest, reply: FastifyReply, status: number, code: string | undefined) => {
      const line: RequestLine = {
        requestId: request.id,
        method: request.method,
        path: request.url.split('?', 1)[0] ?? '',
        status,
        milliseconds: performance.now() - request.receivedAt,
        bytesIn: bytesOf(request.headers['content-length']),
        bytesOut: bytesOf(reply.getHeader('content-length')),
        code,
        tenant: request.caller?.tenant,
      };
      logRequest(log, line);
      onAnswered?.(line);
    };
    app.addHook('onRequest', async (request, reply) => {
      // 'close' follows 'finish', and comes without it if the caller has disconnected.
      reply.raw.once('close', () => {
        // Node also calls an answer finished whose connection was closed while its last bytes waited to be sent.
        const isComplete = reply.raw.writableFinished && !request.raw.socket.destroyed;
        write(request, reply, isComplete ? reply.statusCode : 499, isComplete ? request.errorCode : 'CANCELLED');
      });
    });
  },
  { name: 'request-log', dependencies: ['identity'] },
);
