import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  /** requests that have not been answered to the end */
  readonly open: Set<IncomingMessage>;
  /** what is to be done when those that came whole are */
  last?: (() => void) | undefined;
}

/** Which requests of a connection have not been answered to the end. */
export class UnderWay {
  private readonly connections = new WeakMap<Socket, Connection>();

  begin(request: IncomingMessage): void {
    const connection = this.connections.get(request.socket) ?? { open: new Set() };
    this.connections.set(request.socket, connection);
    connection.open.add(request);
  }

  /** The answer has left, or whoever waited for it has. */
  end(request: IncomingMessage): void {
    const connection = this.connections.get(request.socket);
    connection?.open.delete(request);
    if (!connection?.last || hasWhole(connection)) return;
    const { last } = connection;
    connection.last = undefined;
    last();
  }

  /**
   * Calls back once all requests that have come whole are answered: now if there are none. One that has not come whole is not
   * waited for: what follows on its connection is a part of it. Who asks again meanwhile is not called: a connection has one
   * end.
   */
  afterWholeOnes(socket: Socket, then: () => void): void {
    const connection = this.connections.get(socket);
    if (connection && hasWhole(connection)) connection.last ??= then;
    else then();
  }
}

const hasWhole = ({ open }: Connection): boolean => [...open].some(({ complete }) => complete);
