import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../paths.js';

/** The costs of steps of one size on one machine. */
export interface SizeCost {
  readonly triangles: number;
  readonly vertices: number;
  /** steps per second of all sessions together, with as many sessions as the machine computes at a time */
  readonly throughput: number;
  /** processor time of all threads of the service per step, ms */
  readonly processorMs: number;
  /** ms from request to answer in that run, nearest-rank quantiles at 0 %, 5 %, … 100 % */
  readonly quantiles: readonly number[];
  /** memory of one session between two steps, on the host and on the device together */
  readonly sessionBytes: number;
  /** peak of the working memory of concurrent steps, including memory that is kept for the next ones */
  readonly workBytes: number;
  /** Buffers of one session on the device between two steps; only in files of the engine webgpu. */
  readonly deviceSessionBytes?: number;
  /** peak of the buffers of all sessions together while steps ran */
  readonly deviceBytes?: number;
}

/** The costs of one machine, with everything that identifies what was measured. */
export interface Costs {
  readonly date: string;
  readonly version: string;
  readonly algorithmVersion: string;
  readonly command: string;
  readonly machine: { readonly processor: string; readonly cores: number; readonly memoryBytes: number };
  readonly engine: string;
  readonly adapter: string;
  /** whether the processor emulates a graphics card (e.g. llvmpipe): then the times say nothing about a card */
  readonly isSoftware?: boolean;
  /** load of the machine in the minute before: if it is above 0, elapsed times are longer than on an idle machine */
  readonly loadBefore?: number;
  readonly quality: string;
  /** of the sheets, percent of their initial gap (src/load/sheets.ts) */
  readonly motion: number;
  /** sessions of each run: the steps that the machine computes at a time */
  readonly lanes: number;
  /** of the process without a session */
  readonly baseBytes: number;
  /** ascending by triangles, at least two */
  readonly sizes: readonly SizeCost[];
}

/** The costs of a step of any size, from the measured sizes. */
export interface StepCost {
  readonly vertices: number;
  /** ms that a step occupies one lane while as many lanes compute as in the measurement */
  readonly meanMs: number;
  /** times of single steps, ms, with that mean */
  readonly quantiles: readonly number[];
  readonly sessionBytes: number;
  readonly workBytes: number;
  /** as in {@link SizeCost}; undefined if no device was measured */
  readonly deviceSessionBytes: number | undefined;
  readonly deviceBytes: number | undefined;
  /** whether the size lies outside of the measured range */
  readonly isExtrapolated: boolean;
}

const FOLDER = join(projectRoot, 'src', 'plan', 'costs');

/** Names of the machines whose costs come with the program. */
export const knownCosts = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replace(/\.json$/, ''))
    .sort();

/** Whether steps are computed by WebGPU, on a graphics card or on an emulated one. */
export const isOnDevice = ({ engine }: Pick<Costs, 'engine'>): boolean => engine.startsWith('webgpu');

/** Whether a graphics card computes them. */
export const isOnCard = (costs: Costs): boolean => isOnDevice(costs) && costs.isSoftware !== true;

/**
 * The costs for an engine that come with the program.
 *
 * @throws Error if there are none
 */
export function costsOfEngine(engine: 'cpu' | 'webgpu'): Costs {
  const found = knownCosts()
    .map(readCosts)
    .find((costs) => isOnDevice(costs) === (engine === 'webgpu'));
  if (found === undefined) throw new Error(`No costs of the engine ${engine} come with the program.`);
  return found;
}

/**
 * @param path of a file that `interstice plan --measure` has written, or a name of {@link knownCosts}
 * @throws Error if the file cannot be read or contains something else
 */
export function readCosts(path: string): Costs {
  const file = knownCosts().includes(path) ? join(FOLDER, `${path}.json`) : path;
  const costs = parseCosts(readText(file, path));
  const { lanes, baseBytes, machine, date, engine, quality } = costs ?? {};
  const sizes = Array.isArray(costs?.sizes) ? [...(costs.sizes as SizeCost[])] : [];
  const isRight = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value > 0;
  const isSize = (size: SizeCost | null): boolean =>
    size !== null &&
    [size.triangles, size.vertices, size.throughput, size.processorMs, size.sessionBytes].every(isRight) &&
    size.workBytes >= 0 &&
    [size.deviceSessionBytes ?? 0, size.deviceBytes ?? 0].every((bytes) => bytes >= 0) &&
    Array.isArray(size.quantiles) &&
    size.quantiles.length > 1 &&
    size.quantiles.length === sizes[0]!.quantiles.length &&
    size.quantiles.every(isRight);
  const areSizes = sizes.length > 1 && sizes.every(isSize);
  // No line is defined between two equal sizes.
  const areDifferent = areSizes && new Set(sizes.map(({ triangles }) => triangles)).size === sizes.length;
  const isMachine = typeof machine?.processor === 'string' && isRight(machine.cores);
  const isNamed = [date, engine, quality].every((text) => typeof text === 'string');
  if (!areDifferent || !isRight(lanes) || !isRight(baseBytes) || !isMachine || !isNamed)
    throw new Error(`${path} is not a file of costs: "interstice plan --measure" writes one.`);
  return { ...(costs as Costs), sizes: sizes.sort((a, b) => a.triangles - b.triangles) };
}

function readText(file: string, path: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const names = knownCosts().join(', ');
    const what = `neither a file that can be read nor the name of costs that come with the program (${names})`;
    throw new Error(`${path} is ${what}.`, { cause });
  }
}

/** @returns undefined for a text that is not JSON */
function parseCosts(text: string): Partial<Costs> | null | undefined {
  try {
    return JSON.parse(text) as Partial<Costs> | null;
  } catch {
    return undefined;
  }
}

/** The time that a step occupies its lane: its processor time, as on an idle machine, or the elapsed time. */
export type Basis = 'processor' | 'clock';

/** If the processor computes, a lane is a core, and processor time excludes other work during the measurement. */
export const basisOf = (costs: Costs): Basis => (isOnCard(costs) ? 'clock' : 'processor');

/**
 * Between two sizes, and beyond the smallest and largest, every cost is a power of the number of triangles: a straight
 * line in logarithms through the two nearest sizes.
 */
export function costOf(costs: Costs, triangles: number, basis: Basis = basisOf(costs)): StepCost {
  const { sizes, lanes } = costs;
  const above = sizes.findIndex((size) => size.triangles >= triangles);
  const upper = Math.max(1, above < 0 ? sizes.length - 1 : above);
  const [a, b] = [sizes[upper - 1]!, sizes[upper]!];
  const along = Math.log(triangles / a.triangles) / Math.log(b.triangles / a.triangles);
  const between = (of: (size: SizeCost) => number): number => {
    // Working memory of a small mesh may be 0, which has no logarithm.
    const [from, to] = [Math.max(1, of(a)), Math.max(1, of(b))];
    return from * (to / from) ** along;
  };
  const onDevice = (of: (size: SizeCost) => number | undefined): number | undefined =>
    of(a) === undefined || of(b) === undefined ? undefined : between((size) => of(size)!);
  const meanMs = between(({ processorMs, throughput }) =>
    basis === 'processor' ? processorMs : (1000 * lanes) / throughput,
  );
  const quantiles = a.quantiles.map((_, i) => between((size) => size.quantiles[i]!));
  const scale = meanMs / meanOf(quantiles);
  return {
    vertices: Math.round(between(({ vertices }) => vertices)),
    meanMs,
    quantiles: quantiles.map((ms) => ms * scale),
    sessionBytes: between(({ sessionBytes }) => sessionBytes),
    workBytes: between(({ workBytes }) => workBytes),
    deviceSessionBytes: onDevice((size) => size.deviceSessionBytes),
    deviceBytes: onDevice((size) => size.deviceBytes),
    isExtrapolated: triangles < sizes[0]!.triangles || triangles > sizes.at(-1)!.triangles,
  };
}

/** The mean of a distribution with quantiles at equal steps, linear between them. */
export const meanOf = (quantiles: readonly number[]): number =>
  quantiles.slice(1).reduce((sum, value, i) => sum + (value + quantiles[i]!) / 2, 0) / (quantiles.length - 1);
