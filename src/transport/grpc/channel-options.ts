import type { ServerOptions } from '@grpc/grpc-js';

/**
 * Calls at work on one connection. A client that wants more opens another connection; without a bound one connection
 * could fill the memory with half-sent messages. 100 is the least that HTTP/2 recommends.
 */
const MAX_CONCURRENT_STREAMS = 100;

/** A peer that vanished without a word is noticed after this silence plus the wait for its answer. */
const KEEPALIVE_TIME_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

/** A connection without calls is closed; clients open it again by themselves. */
const MAX_CONNECTION_IDLE_MS = 30 * 60_000;

/** After this a connection takes no new calls, so that clients behind a balancer spread anew; those at work finish. */
const MAX_CONNECTION_AGE_MS = 2 * 60 * 60_000;

/** Settings of the library, each with its reason above. */
export function channelOptions(maxMessageBytes: number): ServerOptions {
  return {
    // Bounds the message as sent and as decompressed: what unpacks to more is given up at the first byte too many.
    'grpc.max_receive_message_length': maxMessageBytes,
    // An answer may be larger than its request (contacts); whether it is too large is for the client to say.
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': MAX_CONCURRENT_STREAMS,
    'grpc.keepalive_time_ms': KEEPALIVE_TIME_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.max_connection_idle_ms': MAX_CONNECTION_IDLE_MS,
    'grpc.max_connection_age_ms': MAX_CONNECTION_AGE_MS,
    // Channelz stays on though nothing here reads it: without its records the library's forceShutdown ends no connection.
  };
}
