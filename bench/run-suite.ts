import type { NamedEngine } from './engines.js';
import type { Measurement } from './measure.js';
import { measureEngines } from './measure-engines.js';
import { caseOf, type SuiteItem } from './suites.js';

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
