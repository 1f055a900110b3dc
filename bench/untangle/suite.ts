import type { Engine } from '../../src/solver/engine.js';
import { seeded } from '../../test/support/random.js';
import { describeMachine } from '../machine.js';
import { resultFile, writeResult } from '../result-file.js';
import { FILES } from './files.js';
import { TANGLES } from './groups.js';
import { BUDGET, measureRun, type Run, readRuns, withRun } from './runs.js';

interface SuiteOptions {
  readonly engine: Engine;
  /** first and last seed of every group */
  readonly seeds: readonly [number, number];
  /** words, one of which the name of a tangle must contain; empty = all */
  readonly words: readonly string[];
  /** folder of the real inputs; undefined = only the generated groups */
  readonly dataFolder: string | undefined;
  /** result file to whose runs these are added; '' = none, undefined = a dated one */
  readonly out: string | undefined;
  readonly print: (line: string) => void;
  readonly tell: (line: string) => void;
}

/**
 * Runs tangles: generated ones by seeds, and those of the real inputs. The table has every run of the result file, so
 * that a long series can be run in pieces.
 */
export async function runUntangle({
  engine,
  seeds: [first, last],
  words,
  dataFolder,
  out: asked,
  print,
  tell,
}: SuiteOptions): Promise<void> {
  const out = asked ?? resultFile('untangle');
  const isAsked = ({ name }: { readonly name: string }): boolean =>
    words.length === 0 || words.some((word) => name.includes(word));
  let runs = out === '' ? [] : readRuns(out);
  const keep = (run: Run): void => {
    runs = withRun(runs, run);
    tell(`${run.tangle}, seed ${run.seed}: ${run.status}, ${run.left} of ${run.pierces}, ${run.seconds.toFixed(1)} s`);
    if (out !== '') writeResult(out, describeMachine([engine.description]), { budgetSeconds: BUDGET, runs });
  };
  for (const group of TANGLES.filter(isAsked)) {
    for (let seed = first; seed <= last; seed++)
      keep({ tangle: group.name, seed, ...(await measureRun(group.make(seeded(seed)), engine)) });
  }
  if (dataFolder !== undefined) {
    for (const { name, read } of FILES.filter(isAsked))
      keep({ tangle: name, seed: 0, ...(await measureRun(await read(dataFolder), engine)) });
  }
  for (const line of tableOf(runs)) print(line);
}

const HEADING = [
  '| tangle | pierces | free | wrong sides | regions, edges: mean, max | outside, δ: max | stretch | iterations | s |',
  '|---|--:|--:|--:|--:|--:|--:|--:|--:|',
];

/** One line per tangle, in the order of the suite; with several engines, one line for each. */
export function tableOf(runs: readonly Run[]): string[] {
  const engines = [...new Set(runs.map(({ engine }) => engine))];
  const known = [...TANGLES, ...FILES.map(({ name }) => ({ name, isDecided: false }))];
  const lines = known.flatMap(({ name, isDecided }) =>
    engines.flatMap((engine) => {
      const own = runs.filter((run) => run.tangle === name && run.engine === engine);
      if (own.length === 0) return [];
      return [lineOf(engines.length > 1 ? `${name}, ${engine}` : name, own, isDecided)];
    }),
  );
  return [...HEADING, ...lines];
}

/** Medians over the seeds, and the worst value of quantities with a bar. */
function lineOf(name: string, runs: readonly Run[], isDecided: boolean): string {
  const median = (of: (run: Run) => number): number => runs.map(of).toSorted((a, b) => a - b)[runs.length >>> 1]!;
  const most = (of: (run: Run) => number): number => Math.max(...runs.map(of));
  const free = runs.filter(({ left }) => left === 0).length;
  const judged = runs.filter(({ wrong, left }) => wrong !== undefined && left === 0);
  const wrong = judged.filter((run) => run.wrong! > 0).length;
  const cells = [
    name,
    median((run) => run.pierces),
    `${free} of ${runs.length}${free === runs.length ? '' : `, ${most(({ left }) => left)} left at most`}`,
    judged.length === 0 ? '—' : `${wrong} of ${judged.length}${isDecided ? '' : ' guessed'}`,
    `${median((run) => run.mean).toFixed(2)}, ${most((run) => run.max).toFixed(2)}`,
    most((run) => run.outside).toFixed(1),
    most((run) => run.stretch).toFixed(2),
    median((run) => run.iterations),
    median((run) => run.seconds).toFixed(1),
  ];
  return `| ${cells.join(' | ')} |`;
}
