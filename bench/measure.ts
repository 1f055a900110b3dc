import { createHash } from 'node:crypto';
import type { Operations } from '../src/contract/operations.js';
import type { ResolveAnswer } from '../src/contract/requests.js';
import type { Case } from './cases.js';

/** Stages of one resolve whose times are given, as in the report's timings. */
export const STAGES = ['search', 'geometry', 'backward', 'forward', 'verify'] as const;
export type Stage = (typeof STAGES)[number];

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Measurement {
  readonly scene: string;
  readonly vertices: number;
  readonly triangles: number;
  readonly engine: string;
  readonly status: string;
  readonly steps: number;
  readonly searches: number;
  readonly pairs: number;
  /** wall time of the whole operation in this process, including the check of the start and of the answer */
  readonly milliseconds: Spread;
  readonly stages: Readonly<Record<Stage, Spread>>;
  readonly millisecondsPerStep: number;
  /** metres */
  readonly rmsToTarget: number;
  readonly repeats: number;
  /** whether every repeat gave the same bytes */
  readonly isRepeatable: boolean;
  /** figures of an engine alone; a whole request has none of these */
  readonly engineOnly?: EngineFigures;
}

/** Figures that only the measurement of an engine alone provides. */
export interface EngineFigures {
  /** opening the scene: a cost that a session pays once */
  readonly openMilliseconds: Spread;
  /** processor time over all threads of this process, without other processes of the machine */
  readonly processorMilliseconds?: Spread;
  /** sum of the stages: on a device with time stamps its own time, without waiting and copies */
  readonly stageMillisecondsPerStep: number;
  /** bytes that the scene held after the last run */
  readonly bytes: number;
  readonly contacts: number;
  /** absent if nothing is dispatched */
  readonly dispatchesPerStep?: number;
  /** milliseconds per step, relative to those of the engine cpu in the same run */
  readonly ratioToCpu?: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return { median, min: sorted[0], max: sorted[sorted.length - 1] };
}

export const fingerprint = ({ positions }: Pick<ResolveAnswer, 'positions'>): string =>
  createHash('sha256')
    .update(new Uint8Array(positions.buffer, positions.byteOffset, positions.byteLength))
    .digest('hex');

/** Resolves one case `repeats` times, after `warmUps` runs that are not counted. */
export async function measure(
  operations: Operations,
  subject: Case,
  repeats: number,
  warmUps: number,
): Promise<Measurement> {
  const walls: number[] = [];
  const stages: Record<Stage, number[]> = { search: [], geometry: [], backward: [], forward: [], verify: [] };
  const fingerprints = new Set<string>();
  let last: ResolveAnswer | undefined;
  for (let run = 0; run < warmUps + repeats; run++) {
    const since = performance.now();
    const answer = await operations.resolve(subject.request);
    const wall = performance.now() - since;
    fingerprints.add(fingerprint(answer));
    if (run < warmUps) continue;
    walls.push(wall);
    for (const stage of STAGES) stages[stage].push(answer.report.timings[stage] / 1000);
    last = answer;
  }
  if (!last) throw new Error('Nothing was measured: at least one repeat is needed.');
  const { report } = last;
  const milliseconds = spreadOf(walls);
  return {
    scene: subject.scene,
    vertices: subject.vertices,
    triangles: subject.triangles,
    engine: report.engine,
    status: report.status,
    steps: report.steps,
    searches: report.searches,
    pairs: report.pairs.vertexTriangle + report.pairs.edgeEdge + report.pairs.vertexEdge + report.pairs.vertexVertex,
    milliseconds,
    stages: {
      search: spreadOf(stages.search),
      geometry: spreadOf(stages.geometry),
      backward: spreadOf(stages.backward),
      forward: spreadOf(stages.forward),
      verify: spreadOf(stages.verify),
    },
    millisecondsPerStep: milliseconds.median / Math.max(1, report.steps),
    rmsToTarget: report.distanceToTargetRms,
    repeats,
    isRepeatable: fingerprints.size === 1,
  };
}

/**
 * Exponent p of time ~ vertices^p, the slope of the least-squares line through the logarithms; undefined with fewer
 * than two sizes.
 *
 * @param timeOf undefined = not measured, so there is no exponent
 */
export function growthExponent(
  measurements: readonly Measurement[],
  timeOf: (measurement: Measurement) => number | undefined = (m) => m.milliseconds.median,
): number | undefined {
  const times = measurements.map(timeOf);
  if (!times.every((time) => time !== undefined)) return undefined;
  const points = measurements.map((m, k) => [Math.log(m.vertices), Math.log(times[k])] as const);
  const mean = (pick: 0 | 1) => points.reduce((sum, point) => sum + point[pick], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  if (!(spread > 0)) return undefined;
  return points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / spread;
}
