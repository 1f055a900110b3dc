import type { AddressInfo } from 'node:net';
import { type handleBidiStreamingCall, type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import Fastify from 'fastify';
import { pino } from 'pino';
import { channelOptions, widenConnections, widenStreams } from '../../src/transport/grpc/channel-settings.js';
import { SERVICE_DEFINITION } from '../../src/transport/grpc/service.js';
import { LateAnswers } from './late-echo.js';

/**
 * The baselines of the overhead: bare servers with the same libraries and transport settings, which return what they
 * receive. They are not part of the product; the paths are those of the service so that the same clients can be used.
 */

export interface EchoAddresses {
  readonly address: string;
  readonly grpcAddress: string;
}

/** Largest message in either direction, bytes. */
const MAX_BYTES = 256 * 1024 * 1024;

/** @param isLate answers come as late as the service's: {@link LateAnswers} */
export async function openEcho({ isLate = false } = {}): Promise<EchoAddresses & { close(): Promise<void> }> {
  const late = isLate ? new LateAnswers() : undefined;
  const app = Fastify({ logger: false, bodyLimit: MAX_BYTES });
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.post('/v1/sessions/:id/steps', async (request, reply) =>
    reply.type('application/octet-stream').send(late ? await late.make(request.body as Buffer) : request.body),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });

  const log = pino({ level: 'warn' }, process.stderr);
  const server = new Server(channelOptions({ maxMessageBytes: MAX_BYTES }));
  const answerOf = (bytes: Uint8Array, send: (answer: Uint8Array) => void): void => {
    if (late) void late.make(bytes).then(send);
    else send(bytes);
  };
  const unary: handleUnaryCall<Uint8Array, Uint8Array> = (call, done) =>
    answerOf(call.request, (answer) => done(null, answer));
  const stream: handleBidiStreamingCall<Uint8Array, Uint8Array> = (call) => {
    call.on('data', (bytes: Uint8Array) => answerOf(bytes, (answer) => call.write(answer)));
    call.on('end', () => call.end());
  };
  server.addService(
    { Step: SERVICE_DEFINITION.Step, StepStream: SERVICE_DEFINITION.StepStream },
    { Step: unary, StepStream: stream },
  );
  widenStreams(server, log);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  widenConnections(server, log);
  return {
    address: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    grpcAddress: `127.0.0.1:${port}`,
    close: async () => {
      server.forceShutdown();
      await app.close();
      await late?.close();
    },
  };
}
