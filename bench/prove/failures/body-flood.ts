import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../scenes/random.js';
import { ServerProcess } from '../server.js';
import { assert, patientClient } from './tools.js';

/** bytes for the bodies of all requests */
const CAPACITY = 2 ** 20;
/** bytes that a head announces: two of them are more than one client may take */
const PROMISED = 700_000;
const HEADS = 8;
const ROUNDS = 3;
/** ms within which a refusal must arrive, and memory must be free again; a faulty service never gets there */
const PATIENCE = 30_000;
const LOOK_MS = 50;

/** A body of less than 64 KiB, for which an eighth of the memory is reserved. */
const SMALL = {
  mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) },
  start: Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0),
};

/**
 * Clients announce more than there is memory for, send nothing of it, and leave. One of them gets the memory, and the
 * others are refused on their heads. A small request is answered meanwhile, and when the clients are gone all memory is
 * free again.
 *
 * @param build of the service; absent = this build
 */
export async function bodiesBeyondMemory(engine: 'cpu' | 'webgpu', _random: Random, build?: string): Promise<string> {
  const server = await ServerProcess.start({
    engine,
    build,
    environment: { INTERSTICE_MAX_BODY_BYTES: String(CAPACITY) },
  });
  let refused = 0;
  try {
    const client = patientClient(server);
    for (let round = 1; round <= ROUNDS; round++) {
      const heads = Array.from({ length: HEADS }, () => sendHead(server.address));
      // The bytes are checked continuously, because after some time a service drops bodies that do not arrive.
      await until(async () => {
        const held = await chargedBytes(server);
        assert(held <= CAPACITY, `round ${round}: ${held} bytes of bodies are let in where ${CAPACITY} may be`);
        return heads.filter(({ answer }) => answer !== '').length >= HEADS - 1;
      });
      const answers = heads.map(({ answer }) => answer).filter((answer) => answer !== '');
      assert(answers.length === HEADS - 1, `round ${round}: ${answers.length} of ${HEADS - 1} bodies are refused`);
      for (const answer of answers) assert(/^HTTP\/1\.1 429 /.test(answer), `round ${round}: ${answer.slice(0, 200)}`);
      refused += answers.length;
      const reply = await client.resolve(SMALL.mesh, SMALL.start, SMALL.start, {});
      assert('answer' in reply, `round ${round}: a small request is refused: ${JSON.stringify(reply)}`);
      for (const { socket } of heads) socket.destroy();
      await until(async () => (await chargedBytes(server)) === 0);
      const left = await chargedBytes(server);
      assert(left === 0, `round ${round}: ${left} bytes are still charged when all clients are gone`);
    }
    assert(server.isAlive, 'The server ended.');
    return `${ROUNDS * HEADS} bodies promised, ${refused} refused on their heads, and all room was free again after each round`;
  } finally {
    await server.stop();
  }
}

/** The head of a request whose body does not arrive. */
function sendHead(address: string): { readonly socket: Socket; readonly answer: string } {
  const { hostname, port, host } = new URL(address);
  const socket = connect(Number(port), hostname);
  const head = { socket, answer: '' };
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    head.answer += bytes.toString('latin1');
  });
  socket.write(
    `POST /v1/resolve HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${PROMISED}\r\n\r\n`,
  );
  return head;
}

async function chargedBytes({ adminAddress }: ServerProcess): Promise<number> {
  const page = await (await fetch(`${adminAddress}/metrics`)).text();
  const value = page.match(/^interstice_body_bytes (\S+)$/m)?.[1];
  assert(value !== undefined, 'The metrics have no interstice_body_bytes.');
  return Number(value);
}

/** Waits for the condition, but no longer than {@link PATIENCE}; the assertion that follows reports a failure. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE; performance.now() < end; await wait(LOOK_MS)) if (await isSo()) return;
}
