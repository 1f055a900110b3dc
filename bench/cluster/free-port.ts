import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports, which systems assign to other programs in the meantime. */
const FIRST_PORT = 15_000;
/**
 * Processes that run at the same time, such as tests, use different ranges of this many ports, because a port is not
 * reserved.
 */
const [SHARES, SHARE_PORTS] = [60, 250];

const share = FIRST_PORT + SHARE_PORTS * (process.pid % SHARES);
/** Ports are assigned in turn, because an assigned port is free until its server listens. */
let next = Math.floor(Math.random() * SHARE_PORTS);

/**
 * Returns a free port of the loopback address. It is not reserved, but this process reuses it only after all others of
 * its range.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = share + next;
    next = (next + 1) % SHARE_PORTS;
    const server = createServer();
    server.listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      ({ code }: NodeJS.ErrnoException) => {
        if (code === 'EADDRINUSE') return false;
        throw new Error(`No port of the loopback address can be opened: ${code}.`);
      },
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
