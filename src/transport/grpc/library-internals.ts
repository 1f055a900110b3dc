import type { Http2Server, ServerHttp2Stream } from 'node:http2';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Server, ServerInterceptingCallInterface } from '@grpc/grpc-js';

/**
 * Private fields of grpc-js and Node that have no public equivalent. Each is checked before use; if a version lacks it,
 * the caller logs what does not work.
 */

interface ServerInternals {
  readonly commonServerOptions?: { settings?: object };
  readonly http2Servers?: ReadonlyMap<Http2Server, unknown>;
}

/** The options of every HTTP/2 server that this server will create; undefined if grpc-js has no such field. */
export function commonOptionsOf(server: Server): { settings?: object } | undefined {
  const { commonServerOptions: common } = server as unknown as ServerInternals;
  return typeof common === 'object' && common !== null ? common : undefined;
}

/**
 * The HTTP/2 servers that listen, one for each address; none before the server is bound, or if grpc-js has no such
 * field. With the public alternative, createConnectionInjector, the service itself would have to listen on all
 * addresses of a name, drain and close.
 */
export function http2ServersOf(server: Server): readonly Http2Server[] {
  const { http2Servers: servers } = server as unknown as ServerInternals;
  return servers instanceof Map ? [...servers.keys()] : [];
}

/** The last stage of a call in the library, which reads from the HTTP/2 stream. */
export interface CallInternals {
  readonly stream: ServerHttp2Stream;
  /** Unpacks a message after its prefix of five bytes. @throws StatusObject */
  decompressMessage: (message: Buffer, encoding: string) => Buffer | Promise<Buffer>;
  readonly decoder: { maxReadMessageLength: number };
}

/**
 * The stream of a call and what the library does with it; undefined if grpc-js has no such fields, or if another
 * interceptor comes first.
 */
export function internalsOf(call: ServerInterceptingCallInterface): CallInternals | undefined {
  const found = call as Partial<CallInternals>;
  const isKnown =
    typeof found.stream?.push === 'function' &&
    typeof found.decompressMessage === 'function' &&
    typeof found.decoder?.maxReadMessageLength === 'number';
  return isKnown ? (found as CallInternals) : undefined;
}

/**
 * The TCP connection of a TLS socket. Node reports a refused client certificate only after the TLS socket is closed and
 * has lost its address.
 */
export function connectionUnder(socket: TLSSocket): Socket | undefined {
  const { _parent: parent } = socket as unknown as { readonly _parent?: Socket };
  return typeof parent === 'object' && parent !== null ? parent : undefined;
}

/** Whether {@link connectionUnder} works in this version of Node, tested on an unconnected socket. */
export function findsConnections(find: typeof connectionUnder = connectionUnder): boolean {
  const connection = new Socket();
  const socket = new TLSSocket(connection);
  const isFound = find(socket) === connection;
  socket.destroy();
  connection.destroy();
  return isFound;
}
