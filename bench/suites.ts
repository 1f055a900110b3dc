import { type Case, makeCases } from './cases.js';

import type { NamedEngine } from './engines.js';
import type { Measurement } from './measure.js';
import { measureEngines } from './measure-engines.js';

/** One measurement of a suite, and what its result is held against. */
export interface SuiteItem {
  readonly scene: string;
  readonly vertices: number;
  /** share of the motion from start to target that is asked for: 1 = all of it */
  readonly share: number;
  readonly goal: string;
  /** milliseconds of the device's own time, of the whole request or of one step; absent = nothing to hold it against */
  readonly limit?: { readonly of: 'request' | 'step'; readonly milliseconds: number };
}

/**
 * For one run on a hardware adapter: slow contact, hard contact, then the same scene at doubling sizes, and tiny meshes,
 * whose steps cost what their dispatches cost.
 */
const HARDWARE: readonly SuiteItem[] = [
  { scene: 'layers', vertices: 1200, share: 1, goal: 'launch rate: a step of a tiny mesh' },
  {
    scene: 'layers',
    vertices: 70_000,
    share: 0.02,
    goal: 'slow contact, 140k triangles: a request under 5 ms of device time',
    limit: { of: 'request', milliseconds: 5 },
  },
  ...[25_000, 40_000, 60_000].map((vertices) => ({
    scene: 'layers',
    vertices,
    share: 1,
    goal: 'hard contact: a step under 1 ms of device time',
    limit: { of: 'step' as const, milliseconds: 1 },
  })),
  ...[62_500, 125_000, 250_000, 500_000].map((vertices) => ({
    scene: 'sleeve',
    vertices,
    share: 1,
    goal: 'linear in size up to 1M triangles',
  })),
  ...[125_000, 250_000, 500_000].map((vertices) => ({
    scene: 'layers',
    vertices,
    share: 0.2,
    goal: 'linear in size up to 1M triangles, everything in contact',
  })),
];

export const SUITES: Readonly<Record<string, readonly SuiteItem[]>> = { hardware: HARDWARE };

/** The item's case, its target moved towards the start. */
export async function caseOf(item: SuiteItem): Promise<Case> {
  for await (const made of makeCases([item.scene], [item.vertices], undefined)) {
    if (item.share === 1) return made;
    const { start, target } = made.request;
    const nearer = Float64Array.from(target, (value, k) => start[k] + item.share * (value - start[k]));
    return { ...made, scene: `${made.scene} ×${item.share}`, request: { ...made.request, target: nearer } };
  }
  throw new Error(`No case for ${item.scene}.`);
}

export interface SuiteResult {
  readonly goal: string;
  readonly measurements: readonly Measurement[];
  /** why it was not measured */
  readonly skipped?: string;
}

export interface SuiteOptions {
  readonly repeat: number;
  readonly warmUp: number;
  /** ms; what would probably not be done by then is excluded, and said so */
  readonly timeLimit: number;
  tell(text: string): void;
}

/** Milliseconds for a case: making it, runs and openings, by the slowest case so far and its size. */
class Forecast {
  #worst = 0;

  learn(vertices: number, spent: number): void {
    this.#worst = Math.max(this.#worst, spent / vertices);
  }

  of(vertices: number): number {
    return this.#worst * vertices;
  }
}

/** Runs the items in turn, as far as the time goes. */
export async function runSuite(
  items: readonly SuiteItem[],
  engines: readonly NamedEngine[],
  { repeat, warmUp, timeLimit, tell }: SuiteOptions,
): Promise<SuiteResult[]> {
  const began = performance.now();
  const forecast = new Forecast();
  const results: SuiteResult[] = [];
  for (const item of items) {
    const { goal, scene, vertices } = item;
    const since = performance.now();
    const left = timeLimit - (since - began);
    const need = forecast.of(vertices);
    if (need > left || left <= 0) {
      const skipped = `${scene} at ${vertices} vertices may take ${seconds(need)}, ${seconds(Math.max(0, left))} are left`;
      tell(`excluded: ${skipped}`);
      results.push({ goal, measurements: [], skipped });
      continue;
    }
    tell(`${scene}, about ${vertices} vertices: ${goal} …`);
    const measurements = await measureEngines(engines, await caseOf(item), repeat, warmUp);
    // Tiny meshes cost what their dispatches cost, which says nothing about large ones.
    if (vertices >= 20_000) forecast.learn(vertices, performance.now() - since);
    results.push({ goal, measurements });
    for (const line of judge(item, measurements)) tell(line);
  }
  return results;
}

/** How each engine did against the item's limit. */
export function judge({ limit }: SuiteItem, measurements: readonly Measurement[]): string[] {
  if (!limit) return [];
  return measurements.flatMap(({ engine, steps, engineOnly }) => {
    if (!engineOnly) return [];
    const step = engineOnly.stageMillisecondsPerStep;
    const spent = limit.of === 'step' ? step : step * steps;
    const verdict = spent <= limit.milliseconds ? 'kept' : 'MISSED';
    return [`  ${engine}: ${spent.toFixed(3)} ms a ${limit.of}, limit ${limit.milliseconds} ms: ${verdict}`];
  });
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(0)} s`;
