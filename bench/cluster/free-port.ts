import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to whoever asks for any, which other programs of this machine get meanwhile. */
const FIRST_PORT = 15_000;
/** Processes that run at the same time, as tests do, take theirs from different shares of so many ports, since a port is not held. */
const [SHARES, SHARE_PORTS] = [60, 250];

const share = FIRST_PORT + SHARE_PORTS * (process.pid % SHARES);
/** Ports are given in turn, because one that was given is free until its server listens. */
let next = Math.floor(Math.random() * SHARE_PORTS);

/** A port of the loopback address that nobody listens on. It is not held, but this process gives it out only after all others of its share. */
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
