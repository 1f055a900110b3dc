/** The real server for tests of clients, which kill it and start it again. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root, startProgram, until } from './program.mjs';

/** A start takes seconds on an idle machine. */
const START_LIMIT_MS = 300_000;

/**
 * Below the ports that systems assign automatically: while a server is down, no other program gets its port, not even
 * its clients.
 */
const [FIRST_PORT, PORTS] = [15_000, 15_000];

/** Ports are assigned in turn, because an assigned port stays free until its server listens. */
let nextPort = Math.floor(Math.random() * PORTS);

const freePort = async () => {
  for (;;) {
    const port = FIRST_PORT + nextPort;
    nextPort = (nextPort + 1) % PORTS;
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
};

const isReady = async (http) => {
  const answer = await fetch(`http://${http}/readyz`);
  await answer.arrayBuffer();
  return answer.ok;
};

/**
 * Starts a server on the engine cpu and waits until it is ready.
 *
 * @param settings environment variables besides those of the ports
 * @returns its addresses, `http` and `grpc`, and `httpPort`; `restart()` kills it and starts another one at the same
 *   addresses; `end()` kills it
 * @throws Error with what it said, if it does not become ready
 */
export async function startServer(settings = {}) {
  const [httpPort, grpcPort] = [await freePort(), await freePort()];
  const [http, grpc] = [httpPort, grpcPort].map((port) => `127.0.0.1:${port}`);
  const { INTERSTICE_REQUIRE_CLIENTS: _, ...environment } = process.env;
  const env = {
    ...environment,
    INTERSTICE_HTTP_PORT: String(httpPort),
    INTERSTICE_GRPC_PORT: String(grpcPort),
    INTERSTICE_ADMIN_PORT: 'off',
    INTERSTICE_ENGINE: 'cpu',
    INTERSTICE_LOG_LEVEL: 'warn',
    ...settings,
  };
  let running;
  const end = async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  };
  const start = async () => {
    const server = startProgram(process.execPath, [join(root, 'dist', 'src', 'cli', 'main.js'), 'serve'], {
      cwd: root,
      env,
    });
    running = server;
    const ended = server.ended.then((code) => {
      throw new Error(`The server ended with ${code}: ${server.log()}`);
    });
    try {
      await Promise.race([until('A server that is ready', START_LIMIT_MS, () => isReady(http)), ended]);
    } catch (thrown) {
      await end();
      throw thrown;
    }
  };
  await start();
  return { http, grpc, httpPort, end, restart: () => end().then(start) };
}
