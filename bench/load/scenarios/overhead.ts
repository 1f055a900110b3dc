import { percentile, splitOf } from '../../../src/load/sample.js';
import type { Row } from '../../../src/load/table.js';
import { type Cloth, makeCloth } from '../cloth.js';
import { startEcho } from '../echo-process.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { deleteSessions, openSessions } from '../sessions.js';
import { DOORS } from '../settings.js';
import { figuresOf, KINDS, type Kind, type Line, openLines } from './overhead-lines.js';

/** Limits of the overhead, as a share of the step and as a multiple of the echo. */
const MAX_SHARE = 0.15;
const MAX_ECHOES = 1.3;
/**
 * Rounds of each kind before the counted ones: they compile code, let buffers grow, and find the proximity set of the
 * session.
 */
const WARM_UP = 3;
/** With fewer steps there is no meaningful median, however slow they are. */
const MIN_ROUNDS = 9;

/**
 * One client with one session per door; echoes and steps alternate, so that all are measured under the same conditions.
 */
export async function overhead({ settings, server, tell }: ScenarioInput): Promise<ScenarioResult> {
  const { vertices = 70_000, doors, seconds } = settings;
  const cloth = makeCloth(vertices);
  const echoes = await startEcho();
  tell(`opening sessions of ${cloth.vertices} vertices …`);
  const sessions = await openSessions(server.grpcAddress, cloth, DOORS.length);
  const all = openLines(cloth, sessions, echoes, server);
  const lines = all.filter(({ door }) => doors.some((name) => name === door));
  try {
    for (const kind of KINDS) await run(lines, kind, { seconds, tell });
  } finally {
    for (const line of all) line.close();
    await deleteSessions(server.grpcAddress, sessions);
    await echoes.stop();
  }
  return resultOf(cloth, lines);
}

async function run(
  lines: readonly Line[],
  kind: Kind,
  { seconds, tell }: { readonly seconds: number; readonly tell: (line: string) => void },
): Promise<void> {
  let round = 0;
  const turn = async (counts: boolean): Promise<void> => {
    const waited: string[] = [];
    for (const line of lines) waited.push((await line.measure(round, kind, counts)).toFixed(0));
    round++;
    tell(`${kind} ${round}${counts ? '' : ' (warm-up)'}: ${waited.join(', ')} ms`);
  };
  for (let n = 0; n < WARM_UP; n++) await turn(false);
  const end = performance.now() + seconds * 1000 * lines.length;
  for (let n = 0; n < MIN_ROUNDS || performance.now() < end; n++) await turn(true);
}

function resultOf(cloth: Cloth, lines: readonly Line[]): ScenarioResult {
  const rowsOf = (rowOf: (line: Line, kind: Kind) => Row) =>
    KINDS.flatMap((kind) => lines.map((line) => rowOf(line, kind)));
  return {
    scenario: 'overhead',
    tables: [
      { heading: `Overhead of a step of ${cloth.vertices} vertices, medians in ms`, rows: rowsOf(rowOf) },
      { heading: 'Where it goes, medians in ms, beside what the step is for', rows: rowsOf(splitRowOf) },
    ],
    verdicts: lines.flatMap(verdictsOn),
    details: {
      vertices: cloth.vertices,
      bytes: cloth.start.byteLength,
      lines: lines.map(({ door, rounds }) => ({ door, rounds })),
    },
  };
}

function rowOf({ door, rounds }: Line, kind: Kind): Row {
  const { step, echo, late, added, share, echoesAdded, latesAdded } = figuresOf(rounds[kind]);
  return {
    door,
    steps: kind,
    rounds: rounds[kind].length,
    step,
    echo,
    'late echo': late,
    added,
    '% of step': 100 * share,
    '× echo': echoesAdded,
    '× late echo': latesAdded,
  };
}

function splitRowOf({ door, rounds }: Line, kind: Kind): Row {
  const splits = rounds[kind].map(({ step }) => splitOf(step));
  const part = (name: keyof ReturnType<typeof splitOf>) =>
    percentile(
      splits.map((split) => split[name]),
      50,
    );
  return {
    door,
    steps: kind,
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

function verdictsOn({ door, rounds }: Line): Verdict[] {
  const { share, echoesAdded, added, echo, late } = figuresOf(rounds.whole);
  return [
    {
      bar: `${door}: what is not method or verification is under ${100 * MAX_SHARE} % of the step`,
      isMet: share < MAX_SHARE,
      measured: `${(100 * share).toFixed(1)} %`,
    },
    {
      bar: `${door}: and within ${MAX_ECHOES} times the same bytes echoed`,
      isMet: echoesAdded <= MAX_ECHOES,
      measured:
        `${added.toFixed(2)} ms against ${echo.toFixed(2)} ms: ${echoesAdded.toFixed(2)} times ` +
        `(an echo as late as a step: ${late.toFixed(2)} ms)`,
    },
  ];
}
