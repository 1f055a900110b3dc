import { join } from 'node:path';
import { readMeshFile, toMeshInput } from '../../src/mesh/files/index.js';
import type { Engine } from '../../src/solver/engine.js';
import { seeded } from '../../test/support/random.js';
import { type ToUntangle, untangleOne } from './run-one.js';
import { TANGLES } from './tangles.js';

interface SuiteOptions {
  readonly engine: Engine;
  /** of every group, from 1 */
  readonly seeds: number;
  /** groups whose name has one of these words; empty = all */
  readonly words: readonly string[];
  /** folder with dress/ and cloth_ball/; undefined = the generated groups alone */
  readonly dataFolder: string | undefined;
  readonly print: (line: string) => void;
}

const HEADING =
  '| tangle | pierces | free | wrong sides | regions, edges: mean, max | outside, δ: max | stretch | iterations | s |';

/** A line of the table: medians over the seeds, and the worst of what has a bar. */
interface Run {
  readonly pierces: number;
  readonly left: number;
  readonly wrong: number | undefined;
  readonly mean: number;
  readonly max: number;
  readonly outside: number;
  readonly stretch: number;
  readonly iterations: number;
  readonly seconds: number;
}

/** What becomes of tangles: generated ones by seeds, and those of the data. Lengths in typical edges, and in δ, a tenth of one. */
export async function runUntangle({ engine, seeds, words, dataFolder, print }: SuiteOptions): Promise<void> {
  const isAsked = (name: string): boolean => words.length === 0 || words.some((word) => name.includes(word));
  print(HEADING);
  print('|---|---|---|---|---|---|---|---|---|');
  for (const { name, isDecided, make } of TANGLES) {
    if (!isAsked(name)) continue;
    const runs: Run[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      const tangle = make(seeded(seed));
      runs.push(await measure(tangle, 1, engine, tangle.countWrong));
    }
    print(lineOf(name, runs, isDecided));
  }
  if (dataFolder === undefined) return;
  for (const { name, edge, read } of FILES) {
    if (!isAsked(name)) continue;
    print(lineOf(name, [await measure(await read(dataFolder), edge, engine)], false));
  }
}

async function measure(
  tangle: ToUntangle & { readonly countWrong?: unknown },
  edge: number,
  engine: Engine,
  countWrong?: (answer: ArrayLike<number>) => number,
): Promise<Run> {
  const { mesh, positions, layers } = tangle;
  const before = process.cpuUsage();
  const { report, positions: answer } = await untangleOne({ mesh, positions, ...(layers ? { layers } : {}) }, engine);
  const { user, system } = process.cpuUsage(before);
  return {
    pierces: report.piercesBefore,
    left: report.piercesAfter,
    wrong: countWrong?.(answer),
    mean: report.regions.mean / edge,
    max: report.regions.max / edge,
    outside: report.outside.max / (edge / 10),
    stretch: report.maxStretch,
    iterations: report.piercesByIteration.length - 1,
    seconds: (user + system) / 1e6,
  };
}

function lineOf(name: string, runs: readonly Run[], isDecided: boolean): string {
  const median = (of: (run: Run) => number): number => runs.map(of).toSorted((a, b) => a - b)[runs.length >>> 1]!;
  const most = (of: (run: Run) => number): number => Math.max(...runs.map(of));
  const free = runs.filter(({ left }) => left === 0).length;
  const left = free === runs.length ? '' : `, ${most((run) => run.left)} left at most`;
  const judged = runs.filter(({ wrong, left }) => wrong !== undefined && left === 0);
  const wrong = judged.filter(({ wrong }) => wrong! > 0).length;
  const cells = [
    name,
    median((run) => run.pierces),
    `${free} of ${runs.length}${left}`,
    judged.length === 0 ? '—' : `${wrong} of ${judged.length}${isDecided ? '' : ' guessed'}`,
    `${median((run) => run.mean).toFixed(2)}, ${most((run) => run.max).toFixed(2)}`,
    most((run) => run.outside).toFixed(1),
    most((run) => run.stretch).toFixed(2),
    median((run) => run.iterations),
    median((run) => run.seconds).toFixed(1),
  ];
  return `| ${cells.join(' | ')} |`;
}

interface FileTangle {
  readonly name: string;
  /** typical edge, the unit of the file */
  readonly edge: number;
  read(folder: string): Promise<ToUntangle>;
}

/** The first vertices are the garment, the rest is the mannequin. */
const MANNEQUIN_FROM = 15105;

/** The dress with its raw target as start, the motion `times` as far. */
const dress = (times: number): FileTangle => ({
  name: `dress, motion × ${times}`,
  edge: 0.00928,
  read: async (folder) => {
    const x = await readMeshFile(join(folder, 'dress/x.obj'));
    const y = await readMeshFile(join(folder, 'dress/y_kick1_eighth.obj'));
    const kinematic = Uint8Array.from({ length: x.vertexCount }, (_, v) => (v >= MANNEQUIN_FROM ? 1 : 0));
    const positions = y.positions.map((to, k) => x.positions[k]! + times * (to - x.positions[k]!));
    return { mesh: { ...toMeshInput(x), kinematic }, positions };
  },
});

const FILES: readonly FileTangle[] = [1, 2, 4, 8].map(dress);
