import type { ServerHttp2Session } from 'node:http2';
import type { Server } from '@grpc/grpc-js';
import type { Logger } from '../../observe/log.js';
import { commonOptionsOf, http2ServersOf } from './library-internals.js';

/**
 * Bytes that a client may send ahead, for each call and for each connection. The library leaves both at HTTP/2's 64 KiB
 * whatever its option says, and an upload then crawls at 64 KiB a round trip: 1.7 MB need 26 of them. A whole frame of
 * a large mesh fits into this.
 */
export const RECEIVE_WINDOW_BYTES = 8 * 1024 * 1024;

/** For each call. Must come before the server is bound: the settings go out with the first frame of a connection. */
export function widenStreams(server: Server, log: Logger): void {
  const common = commonOptionsOf(server);
  if (!common) warn(log, 'commonServerOptions');
  else common.settings = { ...common.settings, initialWindowSize: RECEIVE_WINDOW_BYTES };
}

/** For each connection. Must come after the server is bound: before, there is nothing to listen to. */
export function widenConnections(server: Server, log: Logger): void {
  const known = http2ServersOf(server);
  if (known.length === 0) warn(log, 'http2Servers');
  for (const http2Server of known) {
    http2Server.on('session', (session: ServerHttp2Session) => session.setLocalWindowSize(RECEIVE_WINDOW_BYTES));
  }
}

/** Slower, but right: no reason not to start. */
function warn(log: Logger, missing: string): void {
  log.warn({ missing }, 'this version of @grpc/grpc-js is not known: large uploads will be slow');
}
