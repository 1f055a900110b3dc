import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';

/** A connection to a store that can be interrupted such that both sides notice only silence, and can be redirected. */
export class Wire {
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(
    private readonly server: Server,
    readonly port: number,
    private target: number,
  ) {}

  static async open(target: number): Promise<Wire> {
    const port = await freePort();
    const server = createServer((near) => {
      const far = connect(wire.target, '127.0.0.1');
      near.pipe(far);
      far.pipe(near);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        wire.sockets.add(one);
        one.on('error', () => {});
        one.once('close', () => {
          wire.sockets.delete(one);
          other.destroy();
        });
        if (wire.isCut) one.pause();
      }
    });
    const wire = new Wire(server, port, target);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return wire;
  }

  /** Data in transit remain in transit. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** The connections break; data sent in the meantime are lost, as after a long partition. */
  mend(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.destroy();
  }

  /**
   * Behaves like an address that a failover has given to another server: the connections break, and new ones lead
   * there.
   */
  leadTo(target: number): void {
    this.target = target;
    for (const socket of this.sockets) socket.destroy();
  }

  /** The same where the former server keeps its connections: it has hung, or has become a replica. */
  leadNewTo(target: number): void {
    this.target = target;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}
