import { parseArgs } from 'node:util';

export interface ProveSettings {
  readonly seed: number;
  readonly minutes: number;
  /** largest number of cases on each engine */
  readonly cases: number;
  readonly engines: readonly ('cpu' | 'webgpu')[];
  readonly data: string | undefined;
  /** folder of the report; absent = a folder named by the time */
  readonly out: string | undefined;
  /** s */
  readonly soak: number;
  readonly only: readonly string[];
  /** whether all parts but the soak run beside each other, to end sooner */
  readonly isHurried: boolean;
  /** parts of the campaign to run */
  readonly parts: readonly Part[];
}

export const PARTS = ['cases', 'mutants', 'faults', 'soak'] as const;
export type Part = (typeof PARTS)[number];

export const HELP = `npm run prove -- [flags]

Tries to break the service and judges every answer with tools of its own. Exit code 1 when anything was found.

  --seed N          whole number that everything is drawn from (default: the time)
  --minutes N       how long cases are tried, all engines together (default 1.5)
  --cases N         end after so many cases on each engine, if the time lasts (default: as many as the time allows)
  --engine LIST     cpu, webgpu or both, separated by commas (default cpu,webgpu; webgpu is excluded with a note where
                    no adapter is found)
  --data DIR        folder of real inputs (default: INTERSTICE_DATA; without one, generated scenes only)
  --out DIR         where report.html and report.json go (default bench/results/prove-TIME)
  --soak SECONDS    length of the soak (default 30)
  --parts LIST      of ${PARTS.join(', ')} (default all)
  --ci              what a check of every change runs: seed 2026, the day's share of 28 cases, of the failures (all of
                    them on every engine in eight days) and of the planted faults (all of them in forty days), all
                    parts beside each other, and 60 s of soak at the end; any of these can still be given
  --only WORDS      only cases and mutants whose id contains one of the words, separated by commas
`;

export class UsageError extends Error {}

export function readSettings(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ProveSettings | 'HELP' {
  const { values } = parse(args);
  if (values.help) return 'HELP';
  const list = (text: string | undefined) => (text ?? '').split(',').filter((word) => word !== '');
  const isCi = values.ci === true;
  const engines = list(values.engine ?? 'cpu,webgpu').map((word) => {
    if (word === 'cpu' || word === 'webgpu') return word;
    throw new UsageError(`--engine ${word}: there is cpu and webgpu.`);
  });
  const parts = list(values.parts ?? PARTS.join(',')).map((word): Part => {
    const part = PARTS.find((name) => name === word);
    if (part) return part;
    throw new UsageError(`--parts ${word}: there are ${PARTS.join(', ')}.`);
  });
  return {
    seed: number('seed', values.seed ?? (isCi ? CI.seed : String(Date.now() % 2 ** 31)), 0) >>> 0,
    minutes: number('minutes', values.minutes ?? (isCi ? CI.minutes : '1.5'), 0),
    cases: casesOf(values.cases ?? (isCi ? CI.cases : undefined)),
    engines,
    data: values.data ?? environment.INTERSTICE_DATA,
    out: values.out,
    soak: number('soak', values.soak ?? (isCi ? CI.soak : '30'), 0),
    only: list(values.only),
    isHurried: isCi,
    parts,
  };
}

/** The same cases every time, so that a change that fails can be distinguished from one that does not. */
const CI = { seed: '2026', minutes: '8', cases: '28', soak: '60' };

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string' },
        minutes: { type: 'string' },
        cases: { type: 'string' },
        engine: { type: 'string' },
        data: { type: 'string' },
        out: { type: 'string' },
        soak: { type: 'string' },
        only: { type: 'string' },
        parts: { type: 'string' },
        ci: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function number(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < least) {
    throw new UsageError(`--${name} ${text}: a number of at least ${least} is needed.`);
  }
  return value;
}

function casesOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const cases = number('cases', text, 1);
  if (Number.isInteger(cases)) return cases;
  throw new UsageError(`--cases ${text}: a whole number is needed.`);
}
