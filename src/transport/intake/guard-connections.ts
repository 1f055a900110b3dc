import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Connection, ConnectionCap } from './connection-cap.js';

/** Puts the connections of an HTTP/1.1 server under the cap. @param refuse answers and ends one without a place */
export function guardHttp(
  server: EventEmitter,
  door: string,
  cap: ConnectionCap,
  refuse: (socket: Socket) => void,
): void {
  const connections = new WeakMap<Socket, Connection>();
  server.on('connection', (socket: Socket) => {
    const connection = admit(cap, door, socket, () => socket.destroy());
    if (connection) connections.set(socket, connection);
    else process.nextTick(refuse, socket);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(socket);
    if (!connection) return;
    connection.begin();
    response.once('close', () => connection.end());
  });
}

/**
 * Puts the connections of an HTTP/2 server under the cap, including those in a TLS handshake.
 *
 * @param closed gets every socket that is closed because of the cap
 */
export function guardHttp2(
  server: EventEmitter,
  door: string,
  cap: ConnectionCap,
  closed: Pick<WeakSet<Socket>, 'add'> = new WeakSet(),
): void {
  // Sessions and streams have only a proxy of the socket, so connections are found by their remote end.
  const connections = new Map<string, Connection>();
  const sessions = new Map<string, ServerHttp2Session>();
  server.on('connection', (socket: Socket) => {
    const remote = remoteOf(socket);
    // The session sends GOAWAY, so the client knows that a call which it has just begun was not processed.
    const close = () => {
      closed.add(socket);
      const session = remote === undefined ? undefined : sessions.get(remote);
      if (session) session.destroy();
      else socket.destroy();
    };
    const connection = admit(cap, door, socket, close);
    if (!connection) process.nextTick(close);
    else if (remote !== undefined) {
      connections.set(remote, connection);
      socket.once('close', () => {
        if (connections.get(remote) !== connection) return;
        connections.delete(remote);
        sessions.delete(remote);
      });
    }
  });
  server.on('session', (session: ServerHttp2Session) => {
    const remote = remoteOf(session.socket);
    if (remote !== undefined && connections.has(remote)) sessions.set(remote, session);
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    const remote = stream.session?.socket && remoteOf(stream.session.socket);
    const connection = remote === undefined ? undefined : connections.get(remote);
    if (!connection) return;
    connection.begin();
    stream.once('close', () => connection.end());
  });
}

function admit(cap: ConnectionCap, door: string, socket: Socket, close: () => void): Connection | undefined {
  // Not at once: other listeners of the same event may still set up the connection.
  const connection = cap.enter(door, socket.remoteAddress, () => process.nextTick(close));
  if (connection) socket.once('close', () => cap.leave(connection));
  return connection;
}

const remoteOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string | undefined =>
  remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`;
