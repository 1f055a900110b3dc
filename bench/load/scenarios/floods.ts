import { setTimeout as wait } from 'node:timers/promises';
import { GrpcClient } from '../../../src/load/grpc-client.js';
import { HttpClient } from '../../../src/load/http-client.js';
import { asBuffer } from '../../../src/load/messages.js';
import { readMetric } from '../../../src/load/metrics-page.js';
import { percentile } from '../../../src/load/sample.js';
import type { Row } from '../../../src/load/table.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import type { ServerProcess } from '../../prove/server.js';
import { makeCloth } from '../cloth.js';
import { floodGrpc, floodHttp, type RunningFlood } from '../flooding.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { openSessions } from '../sessions.js';

const MIB = 2 ** 20;
/** A body just under the largest that is permitted by default. */
const BODY_BYTES = 250 * MIB;
/** ms between two waves: longer than an unused announcement was once remembered. */
const WAVE_MS = 5500;
/** A flood is over when nothing has been sent or answered for this many ms; its last wave must begin before. */
const QUIET_MS = 6000;
/** ms after which a flood ends in any case */
const LONGEST_MS = 90_000;
/** ms between two steps of the client that must be served meanwhile, and of its patience */
const STEP_MS = 100;
/** ms after a flood until it must have left nothing behind */
const RELEASE_MS = 30_000;
const PARTICLES = 5600;
/** Particles of the second kind of bomb: all their pairs just fit into the limit of one request in 4 GiB. */
const PACKED = 3300;

/**
 * Sends requests that take or need too much memory to a service whose process has a memory limit: it must survive, and
 * serve others.
 */
export async function floods({ settings, server, tell, group }: ScenarioInput): Promise<ScenarioResult> {
  if (!group) throw new Error('This scenario needs a service in a group with a limit of memory.');
  const cloth = makeCloth(settings.vertices ?? 32);
  const [session = ''] = await openSessions(server.grpcAddress, cloth, 1);
  const bodies = [asBuffer(cloth.targets[0]), asBuffer(cloth.targets[1])] as const;
  const rows: Row[] = [];
  const verdicts: Verdict[] = [];
  const details: unknown[] = [];
  for (const { name, start } of FLOODS) {
    tell(`${name} …`);
    group.forgetPeak();
    const steady = stepSteadily(server, session, bodies);
    await wait(1000);
    const flood = start(server);
    await (flood.done ?? untilQuiet(flood));
    const { codes, ms } = await steady.end();
    const { tally } = flood;
    flood.end();
    const left = server.isAlive ? await untilReleased(server) : Number.NaN;
    const served = codes.filter((code) => code === '200').length;
    const peak = group.peakBytes;
    const isMet = server.isAlive && group.kills === 0 && served === codes.length && left === 0;
    rows.push({
      flood: name,
      'sent MiB': tally.sentBytes / MIB,
      answers: JSON.stringify(tally.refused),
      'peak MiB': peak / MIB,
      steps: codes.length,
      'p50 ms': percentile(ms, 50),
      'worst ms': Math.max(...ms),
    });
    verdicts.push({
      bar: `${name}: the service lives, serves every small step of another client, and holds nothing afterwards`,
      isMet,
      measured: `${server.isAlive ? 'alive' : 'ended'}, ${served} of ${codes.length} steps, ${left} bytes of bodies left`,
    });
    details.push({
      name,
      ...tally,
      peakBytes: peak,
      steps: codes.length,
      served,
      p50: percentile(ms, 50),
      worst: Math.max(...ms),
      left,
    });
    if (!server.isAlive) break;
  }
  return {
    scenario: 'floods',
    tables: [{ heading: `Floods against a process of ${settings.memory} MiB`, rows }],
    verdicts,
    details: { memoryMiB: settings.memory, vertices: cloth.vertices, floods: details },
  };
}

interface Flood {
  readonly name: string;
  /** @returns a flood that ends with `done`, or otherwise when it has become quiet */
  start(server: ServerProcess): RunningFlood & { readonly done?: Promise<unknown> };
}

const FLOODS: readonly Flood[] = [
  {
    name: '40 unfinished chunked bodies',
    start: (server) => floodHttp(server, { waves: [40], pauseMs: 0, bytes: BODY_BYTES, isChunked: true }),
  },
  {
    name: '18 announced bodies of 250 MiB in waves',
    start: (server) => floodHttp(server, { waves: [6, 6, 6], pauseMs: WAVE_MS, bytes: BODY_BYTES, isChunked: false }),
  },
  {
    name: '40 unfinished messages on one gRPC connection',
    start: (server) => floodGrpc(server, 40, BODY_BYTES),
  },
  {
    name: `3 resolves of ${PARTICLES} particles with a huge activation distance`,
    start: (server) => floodPairs(server, 3, particles(PARTICLES, PARTICLES), 1e3),
  },
  {
    name: `3 resolves of ${2 * PACKED + 1} particles, half of them packed, with the largest activation distance`,
    start: (server) => floodPairs(server, 3, particles(2 * PACKED + 1, PACKED), 4),
  },
];

async function untilQuiet({ tally }: RunningFlood): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  for (let last = '', since = performance.now(); performance.now() < until; ) {
    const now = JSON.stringify(tally);
    if (now !== last) since = performance.now();
    if (performance.now() - since > QUIET_MS) return;
    last = now;
    await wait(STEP_MS);
  }
}

/** Sends steps of a small session at a steady pace, from another address. */
function stepSteadily(server: ServerProcess, session: string, bodies: readonly [Buffer, Buffer]) {
  const client = new HttpClient(server.address);
  const codes: string[] = [];
  const ms: number[] = [];
  let isEnded = false;
  const run = (async () => {
    for (let step = 0; !isEnded; step++) {
      const began = performance.now();
      const code = await client.post(`/v1/sessions/${session}/steps`, bodies[(step % 2) as 0 | 1]).then(
        ({ status }) => String(status),
        (error: Error) => error.message,
      );
      codes.push(code);
      ms.push(performance.now() - began);
      if (!server.isAlive) return;
      await wait(Math.max(0, STEP_MS - (performance.now() - began)));
    }
  })();
  return {
    end: async () => {
      isEnded = true;
      await run;
      client.close();
      return { codes, ms };
    },
  };
}

/** @returns bytes of bodies that are still charged */
async function untilReleased(server: ServerProcess): Promise<number> {
  const until = performance.now() + RELEASE_MS;
  for (;;) {
    const page = await (await fetch(`${server.adminAddress}/metrics`)).text();
    const left = readMetric(page, 'interstice_body_bytes');
    if (left === 0 || performance.now() > until) return left;
    await wait(STEP_MS);
  }
}

/** Sends small and complete requests in which every element is near every other. */
function floodPairs(server: ServerProcess, requests: number, positions: Float32Array, activationDistance: number) {
  const tally: RunningFlood['tally'] = { sentBytes: 0, refused: {} };
  const vertexCount = positions.length / 3;
  const message = encodeMessage('ResolveRequest', {
    mesh: { vertexCount, particles: Uint32Array.from({ length: vertexCount }, (_, i) => i) },
    start: { data: positions, scalar: 'FLOAT32' },
    target: { data: positions.map((value) => value * 0.9), scalar: 'FLOAT32' },
    parameters: { activationDistance },
    timeBudget: { seconds: 60n, nanos: 0 },
  });
  const stopper = new AbortController();
  const clients = Array.from({ length: requests }, () => new GrpcClient(server.grpcAddress));
  const calls = clients.map(async (client) => {
    tally.sentBytes += message.byteLength;
    const { code } = await client.call('Resolve', message, undefined, stopper.signal);
    tally.refused[code] = (tally.refused[code] ?? 0) + 1;
  });
  return {
    tally,
    done: Promise.all(calls),
    end: () => {
      stopper.abort();
      for (const client of clients) client.close();
    },
  };
}

/**
 * This many particles, the last of which are packed into one place and the others a unit apart: the distance to the
 * nearest neighbour, which bounds the activation distance, is that of the others if they are the majority.
 */
function particles(count: number, packed: number): Float32Array {
  const side = Math.ceil(Math.cbrt(packed));
  const spread = Math.ceil(Math.cbrt(Math.max(1, count - packed)));
  const place = (index: number, width: number, pitch: number) =>
    [index % width, Math.floor(index / width) % width, Math.floor(index / width ** 2)].map((cell) => cell * pitch);
  const positions = new Float32Array(3 * count);
  for (let i = 0; i < count - packed; i++) positions.set(place(i, spread, 1), 3 * i);
  for (let i = 0; i < packed; i++) {
    const at = place(i, side, 0.02).map((value) => value - 2);
    positions.set(at, 3 * (count - packed + i));
  }
  return positions;
}
