import { existsSync, readFileSync } from 'node:fs';
import type { UntangleStatus } from '../../src/contract/untangle.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import { algorithmVersion } from '../../src/paths.js';
import type { Engine } from '../../src/solver/engine.js';
import { type ToUntangle, untangleOne } from './run-one.js';

/** What became of one tangle. Lengths are in typical edges of the start; outside of regions in δ, a tenth of one. */
export interface Run {
  readonly tangle: string;
  readonly engine: string;
  /** 0 = a tangle of the real inputs */
  readonly seed: number;
  readonly status: UntangleStatus;
  readonly ended?: string;
  readonly pierces: number;
  readonly left: number;
  /** vertices on a wrong side; absent = it is not known which side is right */
  readonly wrong?: number;
  readonly mean: number;
  readonly max: number;
  readonly outside: number;
  readonly stretch: number;
  readonly iterations: number;
  /** s of the processor */
  readonly seconds: number;
}

/** s of the processor after which an untangling answers with the best state that it has found. */
export const BUDGET = 240;

export async function measureRun(
  tangle: ToUntangle & { readonly countWrong?: (answer: ArrayLike<number>) => number },
  engine: Engine,
): Promise<Omit<Run, 'tangle' | 'seed'>> {
  const { mesh, positions, layers } = tangle;
  const edge = measureMesh(buildMesh(mesh), positions).typicalEdge;
  const before = process.cpuUsage();
  const secondsSince = (): number => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  };
  // A budget of the processor, since other work may share the machine.
  const timeLeft = () => 1000 * (BUDGET - secondsSince());
  const asked = { mesh, positions, ...(layers ? { layers } : {}) };
  const { report, positions: answer } = await untangleOne(asked, engine, { timeLeft });
  const seconds = secondsSince();
  const wrong = tangle.countWrong?.(answer);
  return {
    engine: engine.description.name,
    status: report.status,
    ...(report.ended ? { ended: report.ended } : {}),
    pierces: report.piercesBefore,
    left: report.piercesAfter,
    ...(wrong === undefined ? {} : { wrong }),
    mean: report.regions.mean / edge,
    max: report.regions.max / edge,
    outside: report.outside.max / (edge / 10),
    stretch: report.maxStretch,
    iterations: report.piercesByIteration.length - 1,
    seconds,
  };
}

/**
 * The runs of a result file that other runs are to be added to.
 *
 * @throws Error for a file of another version of the algorithm, whose runs do not belong into one table with these
 */
export function readRuns(file: string): Run[] {
  if (!existsSync(file)) return [];
  const known = JSON.parse(readFileSync(file, 'utf8')) as { algorithmVersion: unknown; runs: Run[] };
  if (known.algorithmVersion === algorithmVersion) return known.runs;
  throw new Error(
    `${file} has runs of version ${known.algorithmVersion} of the algorithm, this is ${algorithmVersion}.`,
  );
}

/** Runs with those of the same tangle, engine and seed replaced. */
export function withRun(runs: readonly Run[], run: Run): Run[] {
  const isOther = ({ tangle, engine, seed }: Run): boolean =>
    tangle !== run.tangle || engine !== run.engine || seed !== run.seed;
  return [...runs.filter(isOther), run];
}
