import { setTimeout as wait } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { IntersticeError } from '../../contract/errors.js';
import { type CertificateFacts, datesFault } from './certificates.js';
import { channelOptions } from './channel-options.js';
import { RenewableCredentials } from './credentials.js';
import { Door } from './door.js';
import { widenConnections, widenStreams } from './flow-control.js';
import { watchHandshakes } from './handshakes.js';
import { addHealth } from './health.js';
import { redirectLibraryLog } from './library-log.js';
import type { GrpcOptions, TlsOptions } from './options.js';
import { addReflection } from './reflection.js';
import { SERVICE_DEFINITION, UNARY_METHODS } from './service.js';
import { stepStream } from './step-stream.js';
import { unaryCall } from './unary-call.js';
import { unaryMethods } from './unary-methods.js';

export interface GrpcServer {
  /**
   * @param port 0 = any free one
   * @returns the port that it listens on
   * @throws INVALID_PARAMETER when the address cannot be listened on
   */
  listen(host: string, port: number): Promise<number>;
  /**
   * Handshakes from now on use these files; connections that are open stay. Absent when the door has no TLS.
   * @throws INVALID_PARAMETER when they cannot be used, or are not valid now; nothing changes then
   */
  readonly renewTls?: (tls: TlsOptions) => CertificateFacts;
  /** Takes no more calls, waits for those at work, at most so long, and ends what is left. */
  close(graceMs: number): Promise<void>;
}

/** The gRPC door, not yet listening. @throws INVALID_PARAMETER when TLS cannot be set up */
export function buildGrpcServer(options: GrpcOptions): GrpcServer {
  const { operations, state, log, tls } = options;
  redirectLibraryLog(log);
  const secure = tls && new RenewableCredentials(tls);
  const fault = tls && datesFault(tls);
  // It can be mended while the service runs, and a clock may be at fault: no reason not to start.
  if (fault) log.warn({ reason: fault }, 'clients will not take the certificate');
  const door = new Door(options);
  const server = new Server({ ...channelOptions(options.maxMessageBytes), interceptors: [door.interceptor] });
  const methods = unaryMethods(operations);
  server.addService(SERVICE_DEFINITION, {
    ...Object.fromEntries(UNARY_METHODS.map((name) => [name, unaryCall(methods[name], log)])),
    StepStream: stepStream(options),
  });
  const stopHealth = addHealth(server, state);
  addReflection(server);
  widenStreams(server, log);
  let tellTheRest = () => {};

  return {
    listen: async (host, port) => {
      const bound = await bind(server, host, port, secure ?? ServerCredentials.createInsecure());
      widenConnections(server, log);
      if (secure) tellTheRest = watchHandshakes(server, log, options.onTlsRefused);
      return bound;
    },
    ...(secure ? { renewTls: (files: TlsOptions) => secure.renew(files) } : {}),
    close: async (graceMs) => {
      stopHealth();
      const closed = new Promise<boolean>((resolve) => server.tryShutdown(() => resolve(true)));
      door.closeOthers();
      const timer = new AbortController();
      const late = wait(graceMs, false, { signal: timer.signal }).catch(() => false);
      if (!(await Promise.race([closed, late]))) server.forceShutdown();
      timer.abort();
      tellTheRest();
    },
  };
}

function bind(server: Server, host: string, port: number, credentials: ServerCredentials): Promise<number> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => {
      if (!error) return resolve(bound);
      reject(
        new IntersticeError('INVALID_PARAMETER', `Cannot listen on ${address} for gRPC (${error.message}).`, {
          cause: error,
          hint: 'Choose another INTERSTICE_GRPC_PORT, or stop what listens there.',
        }),
      );
    });
  });
}
