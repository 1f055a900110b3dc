import type { Test } from 'tap';
import { type Cloth, makeCloth } from '../../bench/load/cloth.js';
import { openSessions } from '../../bench/load/sessions.js';
import { ServerProcess } from '../../bench/prove/server.js';
import { HttpClient } from '../../src/load/http-client.js';
import { asBuffer } from '../../src/load/messages.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { roundsOf } from '../support/share.js';

/** Largest body of the services under test: small, so that too much is soon said. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** How long malformed input is thrown at one port, seconds. Longer campaigns set it, with TAP_TIMEOUT=0. */
export const FUZZ_SECONDS = Number(process.env.INTERSTICE_FUZZ_SECONDS || roundsOf(12, 2));
if (!(FUZZ_SECONDS > 0)) throw new Error('INTERSTICE_FUZZ_SECONDS must be a number of seconds.');

/** Times FUZZ_SECONDS after which the attacks end whatever they have not met: before the limit of a test file, five minutes. */
const LONGEST = 10;

/**
 * Says when attacks may end: after FUZZ_SECONDS, and later where by then chance, or a machine so busy that there were few of
 * them, has left one of the outcomes out.
 */
export function endOfAttacks(outcomes: ReadonlyMap<string, number>, wanted: readonly string[]): () => boolean {
  const start = performance.now();
  return () => {
    const seconds = (performance.now() - start) / 1000;
    if (seconds < FUZZ_SECONDS) return false;
    return seconds >= LONGEST * FUZZ_SECONDS || wanted.every((outcome) => outcomes.has(outcome));
  };
}

/** Answers above 500 that callers bring about themselves. */
const EXPECTED = /"code":"(DEADLINE_EXCEEDED|UNIMPLEMENTED)"/;

export interface RoughService {
  readonly server: ServerProcess;
  /** lines that it logged at level error or fatal, less those of answers that callers bring about themselves */
  readonly faults: readonly string[];
}

/** The real service in a process of its own, with small limits; ended with the test. */
export async function startService(t: Test, environment: Readonly<Record<string, string>> = {}): Promise<RoughService> {
  const faults: string[] = [];
  const server = await ServerProcess.start({
    engine: 'cpu',
    environment: {
      INTERSTICE_THREADS: '2',
      INTERSTICE_MAX_MESSAGE_BYTES: String(MAX_MESSAGE_BYTES),
      // Malformed input opens sessions as well, and they stay open until the end of the test.
      INTERSTICE_MAX_SESSIONS: '100000',
      INTERSTICE_IDLE_TIMEOUT_SECONDS: '120',
      // Ends what malformed input asks for, and no request of a caller that does nothing wrong: the first of them wait
      // for threads to start.
      INTERSTICE_MAX_TIME_BUDGET_SECONDS: '30',
      ...environment,
    },
    onLine: (line) => {
      if (/"level":"(error|fatal)"/.test(line) && !EXPECTED.test(line)) faults.push(line);
    },
  });
  t.teardown(() => server.stop());
  return { server, faults };
}

/** A session whose owner does nothing wrong. Two of them that do the same must get the same bytes, whatever happens beside. */
export class Bystander {
  #turn = 0;

  private constructor(
    private readonly client: HttpClient,
    private readonly id: string,
    private readonly cloth: Cloth,
  ) {}

  static async open(server: ServerProcess): Promise<Bystander> {
    const cloth = makeCloth(BYSTANDER_VERTICES);
    const [id] = await openSessions(server.grpcAddress, cloth, 1);
    return new Bystander(new HttpClient(server.address), id!, cloth);
  }

  /** One step back or forth. @returns the bytes of the answer @throws when it is refused */
  async step(): Promise<Buffer> {
    const target = this.cloth.targets[this.#turn++ % 2]!;
    const { status, body } = await this.client.post(`/v1/sessions/${this.id}/steps`, asBuffer(target));
    if (status !== 200) throw new Error(`The bystander was refused with ${status}: ${body}`);
    return body;
  }

  close(): void {
    this.client.close();
  }
}

const BYSTANDER_VERTICES = 200;
/** Steps of the twin before anything happens; after so many both begin anew. */
const TWIN_STEPS = 24;

/**
 * What a session answers while nothing happens beside it. @returns plays the same steps again, in a new session, until it is
 * told to stop; gives how many answers were compared, and how many were not the same bytes
 */
export async function prepareTwin(server: ServerProcess) {
  const twin = await Bystander.open(server);
  const expected: Buffer[] = [];
  for (let i = 0; i < TWIN_STEPS; i++) expected.push(await twin.step());
  twin.close();
  return async (isOver: () => boolean): Promise<{ compared: number; different: number }> => {
    let [compared, different] = [0, 0];
    do {
      const session = await Bystander.open(server);
      for (const bytes of expected) {
        if (!(await session.step()).equals(bytes)) different++;
        compared++;
      }
      session.close();
    } while (!isOver());
    return { compared, different };
  };
}

/** Deletes every session over HTTP. @returns how many there were */
export async function deleteAllSessions({ address }: ServerProcess): Promise<number> {
  let count = 0;
  for (;;) {
    const response = await fetch(`${address}/v1/sessions`, { headers: { accept: 'application/x-protobuf' } });
    const page = decodeMessage('ListSessionsResponse', Buffer.from(await response.arrayBuffer()));
    const sessions = (page.sessions ?? []) as unknown as readonly { id: string }[];
    if (sessions.length === 0) return count;
    for (const { id } of sessions) await fetch(`${address}/v1/sessions/${id}`, { method: 'DELETE' });
    count += sessions.length;
  }
}

/** A message that asks for one small resolve, to be spoilt. */
export const resolveBytes = (): Uint8Array =>
  encodeMessage('ResolveRequest', { ...smallRequest(), parameters: { preset: 'TUNED', stepLimit: 8 } });

/** Two triangles, one above the other, that want to trade places. */
export function smallRequest() {
  const start = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0.5, 1, 0, 0.5, 0, 1, 0.5);
  const target = Float32Array.of(0, 0, 0.5, 1, 0, 0.5, 0, 1, 0.5, 0, 0, 0, 1, 0, 0, 0, 1, 0);
  return {
    mesh: { vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5), kinematic: new Uint8Array(6) },
    start: { data: start, scalar: 'FLOAT32' },
    target: { data: target, scalar: 'FLOAT32' },
  };
}
