import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Server, ServerCredentials, setLogger } from '@grpc/grpc-js';
import { IntersticeError } from '../../contract/errors.js';
import type { Logger } from '../../observe/log.js';
import type { ConnectionCap } from '../intake/connection-cap.js';
import { guardHttp2 } from '../intake/guard-connections.js';
import { CallInterceptor } from './call-interceptor.js';
import { channelOptions, leaveDistantDeadlines, widenConnections, widenStreams } from './channel-settings.js';
import { watchHandshakes } from './handshakes.js';
import { http2ServersOf } from './library-internals.js';
import type { GrpcOptions, TlsOptions } from './options.js';
import { serverStreams } from './server-streams.js';
import { SERVICE_DEFINITION, STREAM_METHOD } from './service.js';
import { addHealth, addReflection } from './standard-services.js';
import { stepStream } from './step-stream.js';
import { type CertificateFacts, datesFault, RenewableCredentials } from './tls-credentials.js';
import { unaryCalls } from './unary-calls.js';

export interface GrpcServer {
  /**
   * @param port 0 = any free port
   * @returns the port in use
   * @throws INVALID_PARAMETER if the address is not available
   */
  listen(host: string, port: number): Promise<number>;
  /**
   * Uses these files for new handshakes; open connections stay. Absent on a server without TLS.
   * @throws INVALID_PARAMETER if they cannot be used, or are not valid now; nothing changes in that case
   */
  readonly renewTls?: (tls: TlsOptions) => CertificateFacts;
  /** Takes no new calls, waits for those in progress at most `graceMs`, and then ends them. */
  close(graceMs: number): Promise<void>;
}

/** Builds the gRPC server, which does not listen yet. @throws INVALID_PARAMETER if TLS cannot be set up */
export function buildGrpcServer(options: GrpcOptions): GrpcServer {
  const { operations, state, log, tls } = options;
  redirectLibraryLog(log);
  const secure = tls && new RenewableCredentials(tls);
  const fault = tls && datesFault(tls);
  // This does not prevent the start: the file can be replaced while the service runs, and the clock may be wrong.
  if (fault) log.warn({ reason: fault }, 'Clients will reject the certificate.');
  const calls = new CallInterceptor(options);
  const server = new Server({ ...channelOptions(options), interceptors: [calls.interceptor] });
  server.addService(SERVICE_DEFINITION, {
    ...unaryCalls(operations, log),
    ...serverStreams(options),
    [STREAM_METHOD]: stepStream(options),
  });
  const stopHealth = addHealth(server, state);
  addReflection(server);
  widenStreams(server, log);
  let flushHandshakeLog = () => {};
  const capped = new WeakSet<Socket>();

  return {
    listen: async (host, port) => {
      const bound = await bind(server, host, port, secure ?? ServerCredentials.createInsecure());
      widenConnections(server, log);
      leaveDistantDeadlines(server);
      if (options.onServerError) for (const one of http2ServersOf(server)) one.on('error', options.onServerError);
      if (options.connections) capConnections(server, options.connections, capped, log);
      if (secure) flushHandshakeLog = watchHandshakes(server, log, options.onTlsRefused, capped);
      return bound;
    },
    ...(secure ? { renewTls: (files: TlsOptions) => secure.renew(files) } : {}),
    close: async (graceMs) => {
      stopHealth();
      const closed = new Promise<boolean>((resolve) => server.tryShutdown(() => resolve(true)));
      calls.closeForeignCalls();
      const timer = new AbortController();
      const late = wait(graceMs, false, { signal: timer.signal }).catch(() => false);
      if (!(await Promise.race([closed, late]))) server.forceShutdown();
      timer.abort();
      flushHandshakeLog();
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
          hint: 'Choose another INTERSTICE_GRPC_PORT, or stop the program that listens there.',
        }),
      );
    });
  });
}

function capConnections(server: Server, cap: ConnectionCap, closed: WeakSet<Socket>, log: Logger): void {
  const servers = http2ServersOf(server);
  if (servers.length === 0) {
    log.warn(
      { missing: 'http2Servers' },
      'This version of @grpc/grpc-js is unknown: INTERSTICE_MAX_CONNECTIONS does not apply to gRPC.',
    );
  }
  for (const http2Server of servers) guardHttp2(http2Server, 'grpc', cap, closed);
}

/** Redirects the log of the library from the console to the log of the service, for the whole process. */
function redirectLibraryLog(log: Logger): void {
  const write =
    (level: 'debug' | 'warn') =>
    (...words: unknown[]): void =>
      log[level]({ library: 'grpc-js' }, words.map(String).join(' '));
  // Its errors are failed binds and lost connections, which the server reports as well.
  setLogger({ error: write('warn'), info: write('debug'), debug: write('debug') });
}
