import type { Config } from '../config/config.js';
import { LineBound } from '../observe/line-bound.js';
import type { Logger } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import { ConnectionCap } from '../transport/intake/connection-cap.js';

/** The cap on connections, with metrics and a limited number of log lines. @returns also how to write pending lines */
export function connectionCap(
  { maxConnections, maxConnectionsPerAddress }: Config,
  metrics: Metrics,
  log: Logger,
): { readonly cap: ConnectionCap; readonly flush: () => void } {
  const event = 'connections';
  const bound = new LineBound((unlogged) => log.warn({ event, unlogged }, 'More connections were closed.'), 1);
  const cap = new ConnectionCap(
    { maxConnections, maxPerAddress: maxConnectionsPerAddress },
    {
      closed: (reason, door, address) => {
        metrics.countClosedConnection(door, reason);
        if (bound.allows(reason)) log.warn({ event, door, reason, address }, WORDS[reason]);
      },
    },
  );
  metrics.watchConnections((door) => cap.countOf(door));
  return { cap, flush: () => bound.flush() };
}

const WORDS = {
  limit: 'A connection was refused: the limit INTERSTICE_MAX_CONNECTIONS is reached, and all connections are in use.',
  address:
    'A connection was refused: its address has reached INTERSTICE_MAX_CONNECTIONS_PER_ADDRESS, and all its connections are in use.',
  idle: 'An idle connection was closed to make room for a new one.',
} as const;
