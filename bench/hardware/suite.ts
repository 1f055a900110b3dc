import { relative } from 'node:path';
import type { GpuEngine } from '../../gpu/engine.js';
import { closeEngines, openEngines } from '../engines.js';
import { describeMachine, type Machine } from '../machine.js';
import { resultFile, writeResult } from '../result-file.js';
import { ITEMS, type Item, type Outcome, type Workplace } from './items.js';

/** The suite for a machine with a graphics card: see docs/measurements.md. */
export interface HardwarePlan {
  /** minutes that it may take; what does not fit is left out, and said so */
  readonly minutes: number;
  readonly dataFolder: string | undefined;
  /** undefined = bench/results with a dated name; '' = nowhere */
  readonly out: string | undefined;
  print(text: string): void;
  tell(text: string): void;
}

/** What became of an item. */
export interface ItemResult extends Partial<Outcome> {
  readonly name: string;
  readonly goal: string;
  readonly seconds?: number;
  /** why it was not measured */
  readonly leftOut?: string;
}

/** What runs the items needs of its surroundings; tests replace it. */
export interface RunOptions {
  /** ms since the run began */
  elapsed(): number;
  /** ms */
  readonly timeLimit: number;
  /** called after each item with all results so far: a run that is cut short keeps what it has */
  onResult(results: readonly ItemResult[]): void;
}

/** Milliseconds for an item, by the slowest scene so far and the number of its vertices; at first nothing is known. */
class Forecast {
  #worst = 0;

  learn({ vertices, rounds }: Item, spent: number): void {
    if (vertices > 0) this.#worst = Math.max(this.#worst, spent / (vertices * rounds));
  }

  of({ vertices, rounds }: Item): number {
    return this.#worst * vertices * rounds;
  }
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(0)} s`;

/** Runs the items in turn, as far as the time goes. An item that fails is a result too. */
export async function runItems(
  items: readonly Item[],
  place: Workplace,
  { elapsed, timeLimit, onResult }: RunOptions,
): Promise<ItemResult[]> {
  const forecast = new Forecast();
  const results: ItemResult[] = [];
  for (const item of items) {
    const { name, goal } = item;
    const left = timeLimit - elapsed();
    const need = forecast.of(item);
    if (item.needsData && place.dataFolder === undefined) {
      results.push({ name, goal, leftOut: 'its data is not there (--data DIR or INTERSTICE_DATA)' });
    } else if (left <= 0 || need > left) {
      const leftOut = `it may take ${seconds(need)}, ${seconds(Math.max(0, left))} are left`;
      results.push({ name, goal, leftOut });
    } else {
      place.tell(`${name}: ${goal} …`);
      const since = elapsed();
      try {
        const outcome = await item.run(place);
        for (const line of outcome.lines) place.tell(`  ${line}`);
        results.push({ name, goal, ...outcome, seconds: (elapsed() - since) / 1000 });
      } catch (thrown) {
        const leftOut = `it failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
        place.tell(`  ${leftOut}`);
        results.push({ name, goal, leftOut, seconds: (elapsed() - since) / 1000 });
      }
      forecast.learn(item, elapsed() - since);
    }
    onResult(results);
  }
  return results;
}

/** @returns exit code: 0, or 1 when an item failed */
export async function runHardware(plan: HardwarePlan): Promise<number> {
  const { minutes, dataFolder, print, tell } = plan;
  const began = performance.now();
  const engines = await openEngines(['webgpu']);
  try {
    const [{ engine }] = engines;
    const machine: Machine = describeMachine([engine.description]);
    print(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; ${engine.description.adapter}`);
    const file = plan.out ?? resultFile('webgpu-hardware');
    const results = await runItems(
      ITEMS,
      { engine: engine as GpuEngine, dataFolder, tell },
      {
        elapsed: () => performance.now() - began,
        timeLimit: 60_000 * minutes,
        onResult: (items) => {
          if (file !== '') writeResult(file, machine, { command: { suite: 'hardware', minutes }, items });
        },
      },
    );
    for (const { name, lines, leftOut } of results) {
      print(`\n${name}`);
      for (const line of lines ?? []) print(`  ${line}`);
      if (leftOut !== undefined) print(`  left out: ${leftOut}`);
    }
    if (file !== '') tell(`wrote ${relative(process.cwd(), file)}`);
    return results.some(({ leftOut }) => leftOut?.startsWith('it failed')) ? 1 : 0;
  } finally {
    await closeEngines(engines);
  }
}
