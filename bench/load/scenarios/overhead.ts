import { asBuffer, makeCloth, stepMessage } from '../cloth.js';
import { startEcho } from '../echo-process.js';
import { GrpcClient, readStep, timingsOf } from '../grpc-client.js';
import { HttpClient } from '../http-client.js';
import { overheadOf, percentile, type Sample, splitOf } from '../sample.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { deleteSessions, openSessions } from '../sessions.js';
import { DOORS } from '../settings.js';
import { StreamClient } from '../stream-client.js';
import type { Row } from '../table.js';

/** What the service may add, as a share of the step and as a multiple of the echo. */
const MOST_SHARE = 0.15;
const MOST_ECHOES = 1.3;
/** Rounds before those that count: code is compiled, buffers have grown, the session has a proximity set. */
const WARM_UP = 2;
/** However slow a step is, fewer make no median. */
const LEAST_ROUNDS = 3;

/** Sends one body and gives the answer back. */
interface Line {
  readonly door: string;
  readonly echo: (body: Uint8Array) => Promise<unknown>;
  readonly step: (body: Uint8Array) => Promise<Record<string, number> | undefined>;
  readonly bodies: readonly Uint8Array[];
  readonly echoes: number[];
  readonly samples: Sample[];
}

/** One client, one session a door; echo and step by turns, so that both see the same machine. */
export async function overhead({ settings, server, tell }: ScenarioInput): Promise<ScenarioResult> {
  const { vertices = 70_000, doors, seconds } = settings;
  const cloth = makeCloth(vertices);
  const echo = await startEcho();
  tell(`opening sessions of ${cloth.vertices} vertices …`);
  const sessions = await openSessions(server.grpcAddress, cloth, DOORS.length);
  const [http, unary, stream] = sessions as [string, string, string];
  const clients = {
    http: [new HttpClient(echo.address), new HttpClient(server.address)],
    unary: [new GrpcClient(echo.grpcAddress), new GrpcClient(server.grpcAddress)],
    stream: [new StreamClient(echo.grpcAddress), new StreamClient(server.grpcAddress)],
  } as const;
  const messages = (id: string) => cloth.targets.map((target) => stepMessage(id, target));
  const path = (id: string) => `/v1/sessions/${id}/steps`;
  const fresh = () => ({ echoes: [], samples: [] });
  const lines: readonly Line[] = [
    {
      door: 'http',
      bodies: cloth.targets.map(asBuffer),
      echo: (body: Uint8Array) => clients.http[0].post(path(http), body),
      step: async (body: Uint8Array) => (await clients.http[1].post(path(http), body)).timings,
      ...fresh(),
    },
    {
      door: 'unary',
      bodies: messages(unary),
      echo: (body: Uint8Array) => clients.unary[0].call('Step', body),
      step: async (body: Uint8Array) => timingsOf(readStep((await clients.unary[1].call('Step', body)).bytes!)),
      ...fresh(),
    },
    {
      door: 'stream',
      bodies: messages(stream),
      echo: (body: Uint8Array) => clients.stream[0].send(body),
      step: async (body: Uint8Array) => StreamClient.timingsOf(await clients.stream[1].send(body)),
      ...fresh(),
    },
  ].filter(({ door }) => doors.some((name) => name === door));
  try {
    const end = performance.now() + seconds * 1000 * lines.length;
    for (let round = 0; round < WARM_UP + LEAST_ROUNDS || performance.now() < end; round++) {
      for (const line of lines) await measure(line, round);
      tell(`round ${round + 1}: ${lines.map(({ samples }) => samples.at(-1)?.ms.toFixed(0) ?? 'warm-up').join(', ')}`);
    }
  } finally {
    for (const pair of Object.values(clients)) for (const client of pair) client.close();
    await deleteSessions(server.grpcAddress, sessions);
    await echo.stop();
  }
  const rows = lines.map(rowOf);
  return {
    scenario: 'overhead',
    tables: [{ heading: `Overhead of a step of ${cloth.vertices} vertices, medians in ms`, rows }],
    verdicts: lines.flatMap(verdictsOn),
    details: {
      vertices: cloth.vertices,
      bytes: cloth.start.byteLength,
      lines: lines.map(({ door, echoes, samples }) => ({ door, echoes, samples })),
    },
  };
}

async function measure({ bodies, echo, step, echoes, samples }: Line, round: number): Promise<void> {
  const body = bodies[round % 2]!;
  let begun = performance.now();
  await echo(body);
  const echoed = performance.now() - begun;
  begun = performance.now();
  const timings = await step(body);
  const ms = performance.now() - begun;
  if (!timings) throw new Error('a step of the overhead scenario was refused');
  if (round < WARM_UP) return;
  echoes.push(echoed);
  samples.push({ session: 0, ms, code: 'OK', timings });
}

const median = (values: readonly number[]): number => percentile(values, 50);

function figuresOf({ echoes, samples }: Line) {
  const added = median(samples.map(overheadOf));
  return {
    step: median(samples.map(({ ms }) => ms)),
    echo: median(echoes),
    added,
    share: median(samples.map((sample) => overheadOf(sample) / sample.ms)),
    echoesAdded: added / median(echoes),
  };
}

function rowOf(line: Line): Row {
  const { step, echo, added, share, echoesAdded } = figuresOf(line);
  const splits = line.samples.map(splitOf);
  const part = (name: keyof ReturnType<typeof splitOf>) => median(splits.map((split) => split[name]));
  return {
    door: line.door,
    rounds: line.samples.length,
    step,
    echo,
    added,
    '% of step': 100 * share,
    '× echo': echoesAdded,
    transport: part('transport'),
    decode: part('decode'),
    queue: part('queue'),
    upload: part('upload'),
    encode: part('encode'),
    rest: part('rest'),
    compute: part('compute'),
    verify: part('verify'),
  };
}

function verdictsOn(line: Line): Verdict[] {
  const { share, echoesAdded, added, echo } = figuresOf(line);
  return [
    {
      bar: `${line.door}: what is not method or verification is under ${100 * MOST_SHARE} % of the step`,
      isMet: share < MOST_SHARE,
      measured: `${(100 * share).toFixed(1)} %`,
    },
    {
      bar: `${line.door}: and within ${MOST_ECHOES} times the same bytes echoed`,
      isMet: echoesAdded <= MOST_ECHOES,
      measured: `${added.toFixed(2)} ms against ${echo.toFixed(2)} ms: ${echoesAdded.toFixed(2)} times`,
    },
  ];
}
