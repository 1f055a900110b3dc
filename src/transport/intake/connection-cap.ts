import { addressGroup } from './client-name.js';

/** Why a connection was closed by the cap. A fixed set, because it is a label of a metric. */
export type ConnectionRefusal =
  /** too many in all, or of its address, and none of those is idle */
  | 'limit'
  | 'address'
  /** it had been idle longest, and made room for a new one */
  | 'idle';

export interface ConnectionLimits {
  /** over all servers; 0 = no limit */
  readonly maxConnections: number;
  /** of one address (of IPv6 the first 64 bits); 0 = half of the above */
  readonly maxPerAddress: number;
}

/** What the cap reports to metrics and the log. */
export interface ConnectionObserver {
  closed(reason: ConnectionRefusal, door: string, address: string): void;
}

/**
 * The connections of all servers. A new connection beyond a limit replaces the one that has been idle longest: this
 * costs its client only a handshake, and a client that opens connections without using them cannot keep others out. A
 * connection is idle while no request of it is in progress. If none is idle, the new one is refused.
 */
export class ConnectionCap {
  private readonly all = new Set<Connection>();
  /** The idle connections, longest idle first. */
  private readonly idle = new Set<Connection>();
  private readonly countByAddress = new Map<string, number>();
  private readonly maxConnections: number;
  private readonly maxPerAddress: number;

  constructor(
    { maxConnections, maxPerAddress }: ConnectionLimits,
    private readonly observer: ConnectionObserver = { closed: () => {} },
  ) {
    this.maxConnections = maxConnections || Number.POSITIVE_INFINITY;
    this.maxPerAddress = maxPerAddress || Math.max(1, Math.floor(this.maxConnections / 2));
  }

  /** Open connections of a server. */
  countOf(door: string): number {
    let count = 0;
    for (const connection of this.all) if (connection.door === door) count++;
    return count;
  }

  /**
   * A connection was opened.
   * @param close closes it at once
   * @returns undefined if there is no place for it
   */
  enter(door: string, address: string | undefined, close: () => void): Connection | undefined {
    const group = addressGroup(address);
    const refusal = this.makeRoom(group);
    if (refusal) {
      this.observer.closed(refusal, door, group);
      return undefined;
    }
    const connection = new Connection(door, group, close, this.idle);
    this.all.add(connection);
    this.countByAddress.set(group, (this.countByAddress.get(group) ?? 0) + 1);
    return connection;
  }

  /** A connection was closed. Further calls do nothing. */
  leave(connection: Connection): void {
    if (!this.all.delete(connection)) return;
    connection.leave();
    const left = (this.countByAddress.get(connection.address) ?? 1) - 1;
    if (left > 0) this.countByAddress.set(connection.address, left);
    else this.countByAddress.delete(connection.address);
  }

  private makeRoom(address: string): ConnectionRefusal | undefined {
    if ((this.countByAddress.get(address) ?? 0) >= this.maxPerAddress) {
      return this.evict((connection) => connection.address === address) ? undefined : 'address';
    }
    if (this.all.size < this.maxConnections) return undefined;
    return this.evict(() => true) ? undefined : 'limit';
  }

  private evict(isCandidate: (connection: Connection) => boolean): boolean {
    for (const connection of this.idle) {
      if (!isCandidate(connection)) continue;
      this.leave(connection);
      this.observer.closed('idle', connection.door, connection.address);
      connection.close();
      return true;
    }
    return false;
  }
}

/** A connection that has a place. */
export class Connection {
  private requests = 0;
  private hasLeft = false;

  constructor(
    readonly door: string,
    readonly address: string,
    readonly close: () => void,
    private readonly idle: Set<Connection>,
  ) {
    idle.add(this);
  }

  /** A request or call has begun. */
  begin(): void {
    this.requests++;
    this.idle.delete(this);
  }

  /** A request or call has ended. After the last one the connection counts as idle, unless it was closed before. */
  end(): void {
    if (--this.requests === 0 && !this.hasLeft) this.idle.add(this);
  }

  /** For {@link ConnectionCap}. */
  leave(): void {
    this.hasLeft = true;
    this.idle.delete(this);
  }
}
