import { existsSync, readFileSync } from 'node:fs';
import type { UntangleStatus } from '../../src/contract/untangle.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import { algorithmVersion } from '../../src/paths.js';
import type { Engine } from '../../src/solver/engine.js';
import { type ToUntangle, untangleOne } from './run-one.js';

/** The result of one tangle. Lengths are in typical edges of the start; outside of regions in δ, a tenth of one. */
export interface Run {
  readonly tangle: string;
  readonly engine: string;
  /** 0 = a tangle of the real inputs */
  readonly seed: number;
  readonly status: UntangleStatus;
  readonly ended?: string;
  readonly pierces: number;
  readonly left: number;
  /** vertices on a wrong side; absent = the right side is not known */
  readonly wrong?: number;
  readonly mean: number;
  readonly max: number;
  readonly outside: number;
  readonly stretch: number;
  readonly iterations: number;
  /** processor time, s */
  readonly seconds: number;
}

/** Processor time in s after which an untangling answers with the best state found. */
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
  // A budget of processor time, because other work may share the machine.
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
 * The runs of a result file to which other runs will be added.
 *
 * @throws Error for a file of another version of the algorithm, whose runs do not belong in one table with these
 */
export function readRuns(file: string): Run[] {
  if (!existsSync(file)) return [];
  const known = JSON.parse(readFileSync(file, 'utf8')) as { algorithmVersion: unknown; runs: Run[] };
  if (known.algorithmVersion === algorithmVersion) return known.runs;
  throw new Error(
    `${file} has runs of version ${known.algorithmVersion} of the algorithm, this is ${algorithmVersion}.`,
  );
}

/** Adds a run, replacing one of the same tangle, engine and seed. */
export function withRun(runs: readonly Run[], run: Run): Run[] {
  const isOther = ({ tangle, engine, seed }: Run): boolean =>
    tangle !== run.tangle || engine !== run.engine || seed !== run.seed;
  return [...runs.filter(isOther), run];
}
