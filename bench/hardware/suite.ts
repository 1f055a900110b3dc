import { relative } from 'node:path';
import type { GpuEngine } from '../../gpu/engine.js';
import { closeEngines, openEngines } from '../engines.js';
import { describeMachine, type Machine } from '../machine.js';
import { resultFile, writeResult } from '../result-file.js';
import { ITEMS, type Item, type Outcome, type Workplace } from './items.js';

/** The suite for a machine with a graphics card: see docs/measurements.md. */
export interface HardwarePlan {
  /** minutes that it may take; items that do not fit are left out and reported */
  readonly minutes: number;
  readonly dataFolder: string | undefined;
  /** undefined = bench/results with a dated name; '' = no file */
  readonly out: string | undefined;
  print(text: string): void;
  tell(text: string): void;
}

/** The outcome of an item, or why there is none. */
export interface ItemResult extends Partial<Outcome> {
  readonly name: string;
  readonly goal: string;
  readonly seconds?: number;
  /** why it was not measured */
  readonly leftOut?: string;
}

/** What runItems needs from its environment; tests replace it. */
export interface RunOptions {
  /** ms since the run began */
  elapsed(): number;
  /** ms */
  readonly timeLimit: number;
  /** called after each item with all results so far, so that a run that is cut short keeps its results */
  onResult(results: readonly ItemResult[]): void;
}

/**
 * Predicts milliseconds for an item. A request takes a certain time for its launches, whatever the mesh, and a certain
 * time per vertex: a line through the two largest measured meshes of the kind, because small ones give no information
 * about the second part, and the very first one had kernels to compile. With only one size, the time of a request grows
 * in proportion to its mesh. Kinds without measurements count like the slowest other kind; at first nothing is known.
 */
class Forecast {
  /** by kind: vertices of a mesh, and the longest time of a request */
  readonly #known = new Map<string, Map<number, number>>();

  learn({ cost }: Item, spent: number): void {
    if (!('kind' in cost)) return;
    const ofKind = this.#known.get(cost.kind) ?? new Map<number, number>();
    this.#known.set(cost.kind, ofKind);
    ofKind.set(cost.vertices, Math.max(ofKind.get(cost.vertices) ?? 0, spent / cost.rounds));
  }

  of({ cost }: Item): number {
    if (!('kind' in cost)) return cost.milliseconds;
    const ofKind = this.#known.get(cost.kind);
    const times = (ofKind ? [ofKind] : [...this.#known.values()]).map((known) => timeFor(cost.vertices, known));
    return cost.rounds * Math.max(0, ...times);
  }
}

/** @param known milliseconds by vertices */
function timeFor(vertices: number, known: ReadonlyMap<number, number>): number {
  const [largest, next] = [...known].sort(([a], [b]) => b - a);
  const [size, time] = largest!;
  if (!next) return time * (vertices / size);
  const perVertex = Math.max(0, (time - next[1]) / (size - next[0]));
  return Math.max(0, time + perVertex * (vertices - size));
}

/** Share of the remaining time that an early item may take. */
const EARLY_SHARE = 1 / 3;

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(0)} s`;

/** Runs the items in turn, as far as the time allows. The failure of an item is a result, too. */
export async function runItems(
  items: readonly Item[],
  place: Workplace,
  { elapsed, timeLimit, onResult }: RunOptions,
): Promise<ItemResult[]> {
  const forecast = new Forecast();
  const results: ItemResult[] = [];
  const waiting = [...items];
  for (let item = waiting.shift(); item; item = waiting.shift()) {
    const { name, goal } = item;
    const left = timeLimit - elapsed();
    const need = forecast.of(item);
    if (item.isEarly && need > EARLY_SHARE * left) {
      waiting.push({ ...item, isEarly: false });
      continue;
    }
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
        for (const fault of outcome.faults ?? []) place.tell(`  FAULT: ${fault}`);
        results.push({ name, goal, ...outcome, seconds: (elapsed() - since) / 1000 });
        // An item that fails gives no information about the time that it would take.
        forecast.learn(item, elapsed() - since);
      } catch (thrown) {
        const reason = thrown instanceof Error ? thrown.message : String(thrown);
        place.tell(`  it failed: ${reason}`);
        results.push({ name, goal, faults: [`it failed: ${reason}`], seconds: (elapsed() - since) / 1000 });
      }
    }
    onResult(results);
  }
  return results;
}

/**
 * Returns the suite's exit code: 1 if an item failed, or did not measure what it should. Items that were left out are
 * not a fault.
 */
export const exitCodeOf = (results: readonly ItemResult[]): number =>
  results.some(({ faults }) => (faults?.length ?? 0) > 0) ? 1 : 0;

/** @returns exit code */
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
    for (const { name, lines, faults, leftOut } of results) {
      print(`\n${name}`);
      for (const line of lines ?? []) print(`  ${line}`);
      for (const fault of faults ?? []) print(`  FAULT: ${fault}`);
      if (leftOut !== undefined) print(`  left out: ${leftOut}`);
    }
    if (file !== '') tell(`wrote ${relative(process.cwd(), file)}`);
    return exitCodeOf(results);
  } finally {
    await closeEngines(engines);
  }
}
