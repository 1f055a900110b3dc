import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Server, ServerOptions } from '@grpc/grpc-js';
import type { Logger } from '../../observe/log.js';
import { commonOptionsOf, http2ServersOf } from './library-internals.js';
import type { GrpcOptions } from './options.js';

/**
 * Calls in progress on one connection; a client that needs more opens another connection. Without a limit one
 * connection could fill the memory with partial messages. 100 is the lowest value that HTTP/2 recommends.
 */
const MAX_CONCURRENT_STREAMS = 100;

/** Longest time between pings: address translators (NAT) drop connections that are silent for some minutes. */
const LONGEST_SILENCE_MS = 60_000;

/** A connection without calls is closed; clients reconnect by themselves. */
const MAX_CONNECTION_IDLE_MS = 30 * 60_000;

/** After this time a connection takes no new calls, so that load balancers distribute clients again. */
const MAX_CONNECTION_AGE_MS = 2 * 60 * 60_000;

/**
 * Bytes that a client may send ahead for each call and for each connection; a frame of a large mesh fits into it. The
 * library keeps HTTP/2's default of 64 KiB whatever its option says, so that an upload would move 64 KiB per round
 * trip.
 */
export const RECEIVE_WINDOW_BYTES = 8 * 1024 * 1024;

export function channelOptions({
  maxMessageBytes,
  keepaliveMs = 0,
}: Pick<GrpcOptions, 'maxMessageBytes' | 'keepaliveMs'>): ServerOptions {
  return {
    // Limits the message before and after decompression, which stops at the first byte too many.
    'grpc.max_receive_message_length': maxMessageBytes,
    // An answer may be larger than its request (contacts); the client decides whether it is too large.
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': MAX_CONCURRENT_STREAMS,
    // A peer that vanished is noticed after both; 0 = never. See INTERSTICE_GRPC_KEEPALIVE_SECONDS.
    'grpc.keepalive_time_ms': Math.min(LONGEST_SILENCE_MS, keepaliveMs),
    'grpc.keepalive_timeout_ms': keepaliveMs,
    'grpc.max_connection_idle_ms': MAX_CONNECTION_IDLE_MS,
    'grpc.max_connection_age_ms': MAX_CONNECTION_AGE_MS,
    // Channelz stays enabled, although nothing reads it: without its records forceShutdown ends no connection.
  };
}

/** Sets the window of each call. Call it before the server is bound: the first frame of a connection carries it. */
export function widenStreams(server: Server, log: Logger): void {
  const common = commonOptionsOf(server);
  if (!common) warn(log, 'commonServerOptions');
  else common.settings = { ...common.settings, initialWindowSize: RECEIVE_WINDOW_BYTES };
}

/** Sets the window of each connection. Call it after the server is bound. */
export function widenConnections(server: Server, log: Logger): void {
  const servers = http2ServersOf(server);
  if (servers.length === 0) warn(log, 'http2Servers');
  for (const http2Server of servers) {
    http2Server.on('session', (session: ServerHttp2Session) => session.setLocalWindowSize(RECEIVE_WINDOW_BYTES));
  }
}

/** Longest time that a timer of Node takes, ms: 24.8 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** ms in the units of the header grpc-timeout. */
const UNITS: Readonly<Record<string, number>> = { n: 1e-6, u: 1e-3, m: 1, S: 1000, M: 60_000, H: 3_600_000 };

/**
 * Leaves deadlines that no timer takes to the clients, which end their calls themselves: the library computes them in 32
 * bits, and would end such calls at once. Call it after the server is bound.
 */
export function leaveDistantDeadlines(server: Server): void {
  for (const http2Server of http2ServersOf(server)) {
    // Before the listener of the library, which gets the same headers.
    http2Server.prependListener('stream', (_stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      // What the library would find in it.
      const [, amount, unit] = /(\d{1,8})\s*([HMSmun])/.exec(String(headers['grpc-timeout'])) ?? [];
      if (unit !== undefined && Number(amount) * UNITS[unit]! > LONGEST_TIMER_MS) delete headers['grpc-timeout'];
    });
  }
}

/** The server works without it, only slower. */
function warn(log: Logger, missing: string): void {
  log.warn({ missing }, 'This version of @grpc/grpc-js is unknown: large uploads will be slow.');
}
