import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Server } from '@grpc/grpc-js';
import { LineBound } from '../../observe/line-bound.js';
import type { Logger } from '../../observe/log.js';
import { explainHandshake, type HandshakeReason, WRONG_PROTOCOL } from './handshake-reasons.js';
import { connectionUnder, findsConnections, http2ServersOf } from './library-internals.js';

/** In every line about a connection that did not get through TLS. */
const EVENT = 'tls-refused';

/** A handshake error, as Node makes them of OpenSSL's. */
type HandshakeError = Error & { readonly code?: string; readonly reason?: string };

/**
 * Tells of every connection that does not get through TLS: to `onRefused` each, to the log in a bounded number of lines.
 * Must come after the server is bound.
 *
 * @returns writes what has not been told yet
 */
export function watchHandshakes(
  server: Server,
  log: Logger,
  onRefused: (reason: HandshakeReason) => void = () => {},
): () => void {
  const bound = new LineBound((unlogged) => log.warn({ event: EVENT, unlogged }, 'more connections refused at TLS'));
  const tell = (reason: HandshakeReason, words: string, remote: string) => {
    onRefused(reason);
    // Whoever only looks whether the port is open was not turned away, and comes every few seconds.
    if (reason === 'probe') log.debug({ event: EVENT, reason, remote }, words);
    else if (bound.allows(reason)) log.warn({ event: EVENT, reason, remote }, words);
  };
  const servers = http2ServersOf(server);
  if (servers.length === 0) {
    log.warn({ missing: 'http2Servers' }, 'this version of @grpc/grpc-js is not known: refused handshakes go unseen');
  }
  if (!findsConnections()) {
    log.warn({ missing: '_parent' }, 'this version of Node is not known: some refused handshakes have no address');
  }
  // Looked up while the connection is open: afterwards Node does not know it any more.
  const remotes = new WeakMap<Socket, string>();
  for (const http2Server of servers) {
    http2Server.on('connection', (connection: Socket) => {
      if (connection.remoteAddress) remotes.set(connection, addressOf(connection));
    });
    http2Server.on('tlsClientError', (error: HandshakeError, socket: TLSSocket) => {
      const connection = connectionUnder(socket);
      const { reason, words } = explainHandshake({
        code: error.code,
        words: error.reason,
        // A string, whatever its type says: the code of OpenSSL.
        certificateFault: (socket.authorizationError as unknown as string | null) ?? undefined,
        bytesIn: connection?.bytesRead,
      });
      tell(reason, words, (connection && remotes.get(connection)) ?? addressOf(socket));
    });
    http2Server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol !== 'h2') tell(WRONG_PROTOCOL.reason, WRONG_PROTOCOL.words, addressOf(socket));
    });
  }
  return () => bound.flush();
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  if (remoteAddress === undefined) return 'unknown';
  return remoteAddress.includes(':') ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}
