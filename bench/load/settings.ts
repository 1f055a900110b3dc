import { parseArgs } from 'node:util';
import type { Quality } from '../../src/contract/parameters.js';

export const SCENARIOS = [
  'sweep',
  'overhead',
  'fairness',
  'mixed',
  'preemption',
  'versus',
  'resting',
  'floods',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

export const DOORS = ['http', 'unary', 'stream'] as const;
export type DoorName = (typeof DOORS)[number];

const QUALITIES = ['FAST', 'BALANCED', 'FINE'] as const satisfies readonly Quality[];

export interface LoadSettings {
  readonly scenarios: readonly Scenario[];
  readonly engine: 'cpu' | 'webgpu';
  /** vertices of each session's cloth; undefined = the default of the scenario */
  readonly vertices: number | undefined;
  readonly sessions: readonly number[] | undefined;
  readonly concurrency: readonly number[];
  readonly doors: readonly DoorName[];
  /** duration of each measurement */
  readonly seconds: number;
  /** of the fairness scenario, seconds */
  readonly deadline: number;
  /** of the large resolve of the mixed scenario */
  readonly triangles: number;
  /** number of concurrent BATCH resolves of the preemption scenario */
  readonly resolves: number;
  /** folder with the src/cli/main.js of another build, for versus and resting; undefined = only this one */
  readonly against: string | undefined;
  /** quality of this build's sessions in versus and resting; the other build keeps its default */
  readonly quality: readonly Quality[];
  /** percent of the way between its two layers by which the cloth of versus moves in a step */
  readonly motion: number;
  /** number of rounds in versus and resting, in each of which both builds are measured */
  readonly rounds: number;
  /** memory of the service's process in the floods scenario, MiB */
  readonly memory: number;
  readonly out: string | undefined;
}

export const HELP = `npm run load -- [flags]

Starts the real service in a separate process on the loopback address and puts load on it.

  --scenario LIST     ${SCENARIOS.join(', ')} (default sweep)
                        sweep     throughput, latency and where the time goes, by door, sessions and concurrency
                        overhead  one client, one session of 70,000 vertices: what the service adds to the method,
                                  beside the same bytes echoed through the same transport
                        fairness  64 sessions of 5,000 vertices at once, then more than the queue holds
                        mixed     64 small sessions alone and beside a resolve of a million triangles, at an easy pace and flat out
                        preemption  INTERACTIVE steps of small sessions alone and beside BATCH resolves without end, each just small
                                  enough for an ordinary lane
                        versus    steps of sessions through every door, in turn by this build and by another one (--against), with
                                  the processor time that the service takes
                        resting   steps of one session in which nothing moves, in turn by this build and by another one
                        floods    bodies that never end and meshes whose elements pair all with all, against a process in a
                                  control group with little memory (Linux; needs the right to make one)
  --engine NAME       cpu or webgpu (default cpu)
  --vertices N        of each session's cloth (default 2000, 70000, 5000, 500, 32, 968, 70000
                      and 32 in this order of scenarios)
  --sessions LIST     numbers of sessions (default 1,8 for sweep, 64 for fairness and mixed, 4 for
                      preemption, 16 for versus)
  --concurrency LIST  connections, or calls at a time (default 1,4,16; sweep only)
  --door LIST         ${DOORS.join(', ')} (default all)
  --seconds N         of each measurement (default 5; fairness, mixed and preemption take four times as long)
  --deadline N        seconds that a step may take in the flood of fairness (default 10)
  --triangles N       of the large resolve in mixed (default 1000000)
  --resolves N        BATCH resolves at a time in preemption (default 4)
  --against FOLDER    another build, measured in turn with this one in versus and resting: the folder with its src/cli/main.js
  --quality LIST      FAST, BALANCED, FINE: of this build's sessions in versus and resting (default FAST); the other build
                      keeps its default
  --motion N          percent of the way between its layers that the cloth of versus moves in a step (default 2: a frame of a
                      simulation; 50: the layers meet)
  --rounds N          how often each build is measured in versus and resting (default 3)
  --memory N          MiB of the service's process in floods (default 4096)
  --out FILE          where the JSON goes (default bench/results/DATE-load-ENGINE.json); "" for nowhere
  --help
`;

export class UsageError extends Error {}

/** @throws UsageError */
export function readSettings(args: readonly string[]): LoadSettings | 'HELP' {
  const values = parse(args);
  if (values.help) return 'HELP';
  const engine = oneOf('engine', values.engine ?? 'cpu', ['cpu', 'webgpu']);
  return {
    scenarios: listOf('scenario', values.scenario ?? 'sweep', SCENARIOS),
    engine,
    vertices: values.vertices === undefined ? undefined : count('vertices', values.vertices),
    sessions: values.sessions === undefined ? undefined : counts('sessions', values.sessions),
    concurrency: counts('concurrency', values.concurrency ?? '1,4,16'),
    doors: listOf('door', values.door ?? DOORS.join(','), DOORS),
    seconds: count('seconds', values.seconds ?? '5'),
    deadline: count('deadline', values.deadline ?? '10'),
    triangles: count('triangles', values.triangles ?? '1000000'),
    resolves: count('resolves', values.resolves ?? '4'),
    against: values.against,
    quality: listOf('quality', values.quality ?? 'FAST', QUALITIES),
    motion: count('motion', values.motion ?? '2'),
    rounds: count('rounds', values.rounds ?? '3'),
    memory: count('memory', values.memory ?? '4096'),
    out: values.out,
  };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        scenario: text,
        engine: text,
        vertices: text,
        sessions: text,
        concurrency: text,
        door: text,
        seconds: text,
        deadline: text,
        triangles: text,
        resolves: text,
        against: text,
        quality: text,
        motion: text,
        rounds: text,
        memory: text,
        out: text,
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

const split = (list: string): string[] => list.split(',').map((word) => word.trim());

function oneOf<T extends string>(flag: string, word: string, known: readonly T[]): T {
  const found = known.find((name) => name === word);
  if (found === undefined) throw new UsageError(`--${flag} ${word}: there are ${known.join(', ')}.`);
  return found;
}

const listOf = <T extends string>(flag: string, list: string, known: readonly T[]): T[] =>
  split(list).map((word) => oneOf(flag, word, known));

function count(flag: string, word: string): number {
  if (!/^[1-9]\d*$/.test(word)) throw new UsageError(`--${flag} ${word}: a whole number of at least 1 is needed.`);
  return Number(word);
}

const counts = (flag: string, list: string): number[] => split(list).map((word) => count(flag, word));
