import type { Http2Server } from 'node:http2';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Server } from '@grpc/grpc-js';

/**
 * Private fields of libraries, each looked for before it is used: nothing public leads to what is behind them. Whoever uses
 * them says in the log what does not work when a version no longer has them.
 */

interface ServerInternals {
  readonly commonServerOptions?: { settings?: object };
  readonly http2Servers?: ReadonlyMap<Http2Server, unknown>;
}

/** What every HTTP/2 server of this one will be made with; undefined when this version of grpc-js has no such field. */
export function commonOptionsOf(server: Server): { settings?: object } | undefined {
  const { commonServerOptions: common } = server as unknown as ServerInternals;
  return typeof common === 'object' && common !== null ? common : undefined;
}

/**
 * The HTTP/2 servers that listen: one an address, none before the server is bound; none ever when this version of grpc-js
 * has no such field. grpc-js could be handed connections of a listener of ours (createConnectionInjector), but then every
 * address of a name, the drain and the end would be ours to do as well.
 */
export function http2ServersOf(server: Server): readonly Http2Server[] {
  const { http2Servers: servers } = server as unknown as ServerInternals;
  return servers instanceof Map ? [...servers.keys()] : [];
}

/**
 * The connection under a TLS socket. Node forgets the address of a TLS socket that is closed, and a client whose certificate
 * is refused is told to us only after that.
 */
export function connectionUnder(socket: TLSSocket): Socket | undefined {
  const { _parent: parent } = socket as unknown as { readonly _parent?: Socket };
  return typeof parent === 'object' && parent !== null ? parent : undefined;
}

/** Whether {@link connectionUnder} finds anything in this version of Node, tried on a connection that goes nowhere. */
export function findsConnections(find: typeof connectionUnder = connectionUnder): boolean {
  const connection = new Socket();
  const socket = new TLSSocket(connection);
  const isFound = find(socket) === connection;
  socket.destroy();
  connection.destroy();
  return isFound;
}
