import { type Cloth, makeCloth } from '../cloth.js';
import { startEcho } from '../echo-process.js';
import { percentile, splitOf } from '../sample.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { deleteSessions, openSessions } from '../sessions.js';
import { DOORS } from '../settings.js';
import type { Row } from '../table.js';
import { figuresOf, type Line, openLines } from './overhead-lines.js';

/** What the service may add, as a share of the step and as a multiple of the echo. */
const MOST_SHARE = 0.15;
const MOST_ECHOES = 1.3;
/** Rounds before those that count: code is compiled, buffers have grown, the session has a proximity set. */
const WARM_UP = 3;
/** Whole steps, for the share: seconds each. */
const WHOLE_ROUNDS = 3;
/** Short steps, for the milliseconds. However slow they are, fewer make no median. */
const LEAST_ROUNDS = 9;

/** One client, one session a door; echo and step by turns, so that both see the same machine. */
export async function overhead({ settings, server, tell }: ScenarioInput): Promise<ScenarioResult> {
  const { vertices = 70_000, doors, seconds } = settings;
  const cloth = makeCloth(vertices);
  const echo = await startEcho();
  tell(`opening sessions of ${cloth.vertices} vertices …`);
  const sessions = await openSessions(server.grpcAddress, cloth, DOORS.length);
  const all = openLines(cloth, sessions, echo, server);
  const lines = all.filter(({ door }) => doors.some((name) => name === door));
  try {
    await run(lines, { seconds, tell });
  } finally {
    for (const line of all) line.close();
    await deleteSessions(server.grpcAddress, sessions);
    await echo.stop();
  }
  return resultOf(cloth, lines);
}

async function run(
  lines: readonly Line[],
  { seconds, tell }: { readonly seconds: number; readonly tell: (line: string) => void },
): Promise<void> {
  let round = 0;
  const turn = async (kind: 'warmUp' | 'whole' | 'short'): Promise<void> => {
    const waited: string[] = [];
    for (const line of lines) waited.push((await line.measure(round, kind)).toFixed(0));
    round++;
    tell(`round ${round} (${kind === 'warmUp' ? 'warm-up' : kind}): ${waited.join(', ')} ms`);
  };
  for (let n = 0; n < WHOLE_ROUNDS; n++) await turn('whole');
  for (let n = 0; n < WARM_UP; n++) await turn('warmUp');
  const end = performance.now() + seconds * 1000 * lines.length;
  for (let n = 0; n < LEAST_ROUNDS || performance.now() < end; n++) await turn('short');
}

function resultOf(cloth: Cloth, lines: readonly Line[]): ScenarioResult {
  const rows = lines.map(rowOf);
  return {
    scenario: 'overhead',
    tables: [
      { heading: `Overhead of a step of ${cloth.vertices} vertices, medians in ms`, rows },
      { heading: 'Where it goes, medians in ms, beside what the step is for', rows: lines.map(splitRowOf) },
    ],
    verdicts: lines.flatMap(verdictsOn),
    details: {
      vertices: cloth.vertices,
      bytes: cloth.start.byteLength,
      lines: lines.map(({ door, echoes, short, whole }) => ({ door, echoes, short, whole })),
    },
  };
}

const median = (values: readonly number[]): number => percentile(values, 50);

function rowOf(line: Line): Row {
  const { step, echo, added, share, echoesAdded } = figuresOf(line);
  return {
    door: line.door,
    rounds: line.short.length,
    'whole step': step,
    echo,
    added,
    '% of step': 100 * share,
    '× echo': echoesAdded,
  };
}

function splitRowOf({ door, short }: Line): Row {
  const splits = short.map(splitOf);
  const part = (name: keyof ReturnType<typeof splitOf>) => median(splits.map((split) => split[name]));
  return {
    door,
    transport: part('transport'),
    decode: part('decode'),
    queue: part('queue'),
    upload: part('upload'),
    readback: part('readback'),
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
