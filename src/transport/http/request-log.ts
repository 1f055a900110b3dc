import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { logRequest, type RequestLine } from '../../observe/log.js';
import type { DoorOptions } from './options.js';

const bytesOf = (header: unknown): number | undefined => {
  const value = Number(header);
  return header === undefined || Number.isNaN(value) ? undefined : value;
};

/** One line a request, also for those whose caller hung up before the answer. */
export const requestLog = fp<DoorOptions>(
  async (app, { log, onAnswered }) => {
    const write = (request: FastifyRequest, reply: FastifyReply, status: number, refusal: string | undefined) => {
      const line: RequestLine = {
        requestId: request.id,
        method: request.method,
        path: request.url.split('?', 1)[0] ?? '',
        status,
        milliseconds: performance.now() - request.receivedAt,
        bytesIn: bytesOf(request.headers['content-length']),
        bytesOut: bytesOf(reply.getHeader('content-length')),
        code: refusal,
        tenant: request.caller?.tenant,
      };
      logRequest(log, line);
      onAnswered?.(line);
    };
    app.addHook('onRequest', async (request, reply) => {
      // 'close' comes after 'finish' too, and without it when the caller went away: one place for both.
      reply.raw.once('close', () => {
        const isWhole = reply.raw.writableFinished;
        write(request, reply, isWhole ? reply.statusCode : 499, isWhole ? request.refusal : 'CANCELLED');
      });
    });
  },
  { name: 'request-log', dependencies: ['identity'] },
);
