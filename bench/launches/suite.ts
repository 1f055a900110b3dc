import { createGpuEngine, type GpuEngine } from '../../gpu/engine.js';
import type { GpuScene } from '../../gpu/scene.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { Resolution } from '../../src/solver/engine.js';
import { type Case, makeCases } from '../cases.js';
import { describeMachine } from '../machine.js';
import { prepare } from '../measure-engines.js';
import { alignTable } from '../table.js';
import { LaunchWatch } from './watch.js';

export interface LaunchesOptions {
  readonly scenes: readonly string[];
  /** empty = the size of the committed examples, and LAYERS of the layers */
  readonly vertices: readonly number[];
  readonly qualities: readonly Quality[];
  readonly dataFolder: string | undefined;
  /** one row for a request */
  print(text: string): void;
  /** progress */
  tell(text: string): void;
}

/** Vertices of the layers besides the example's own size. */
const LAYERS = [10_000];

/** Frames of a session that goes to the target in equal parts. */
const FRAMES = 4;

/** What one request, or several of a session, submitted. */
interface Counted {
  readonly statuses: readonly string[];
  readonly steps: number;
  readonly searches: number;
  readonly submittedSteps: number;
  readonly submitted: number;
  readonly worked: number;
  readonly readings: number;
  readonly contacts: number;
  readonly rounds: number;
  readonly turns: number;
  /** dispatches by kernel, submitted and with work */
  readonly byKernel: ReadonlyMap<string, readonly [submitted: number, worked: number]>;
}

const HEADINGS = [
  ...['scene', 'quality', 'request', 'status', 'vertices', 'steps', 'submitted steps', 'searches'],
  ...['dispatches', 'with work', 'ratio', 'readings', 'contacts', 'rounds', 'serial turns'],
];

/**
 * Counts the dispatches of first requests and of sessions, as hardware gets them (steps are submitted ahead of their status) and as software
 * does (step by step). Counts do not depend on the adapter.
 */
export async function runLaunches(options: LaunchesOptions): Promise<void> {
  const { scenes, vertices, qualities, dataFolder, print, tell } = options;
  for (const runsAhead of [true, false]) {
    const watch = new LaunchWatch();
    const { engine, reason } = await createGpuEngine({
      allowSoftware: true,
      skipValidation: true,
      runsAhead,
      open: watch.open,
      watch: { usage: watch.usage },
    });
    if (!engine) throw new Error(`The engine webgpu cannot be counted: ${reason}`);
    try {
      const machine = describeMachine([engine.description]);
      print(
        `${engine.description.name}, ${machine.cores} cores; steps are submitted ${runsAhead ? 'ahead' : 'singly'}\n`,
      );
      const rows: string[][] = [];
      for (const scene of scenes) {
        const sizes = vertices.length > 0 || scene !== 'layers' ? [vertices] : [[], LAYERS];
        for (const size of sizes) {
          for await (const subject of makeCases([scene], size, dataFolder)) {
            for (const quality of qualities) {
              tell(`${scene}, ${subject.vertices} vertices, ${quality} …`);
              rows.push(...(await countCase(engine, watch, subject, quality, tell)));
            }
          }
        }
      }
      print(`${alignTable([HEADINGS, ...rows])}\n`);
    } finally {
      await engine.close();
    }
  }
}

/** A first request for the whole way, then a session that goes there in frames, the first of which is not counted. */
async function countCase(
  engine: GpuEngine,
  watch: LaunchWatch,
  { scene: name, vertices, request }: Case,
  quality: Quality,
  tell: (text: string) => void,
): Promise<string[][]> {
  const asked = { request: { ...request, parameters: { ...request.parameters, quality } } };
  const { mesh, parameters, units, x, y } = prepare(asked);
  const open = async (): Promise<GpuScene> => (await engine.open(mesh, parameters, units)) as GpuScene;
  const first = await open();
  const once = await count(first, watch, () => first.resolve({ x, y }));
  first.close();
  tell(`  empty: ${emptiest(once)}`);
  const session = await open();
  let at = x;
  const frames: Counted[] = [];
  for (let k = 1; k <= FRAMES; k++) {
    const target = k === FRAMES ? y : y.map((value, c) => x[c] + (k / FRAMES) * (value - x[c]));
    const counted = await count(session, watch, async () => {
      const resolution = await session.resolve({ x: at, y: target });
      at = resolution.positions;
      return resolution;
    });
    if (k > 1) frames.push(counted);
  }
  session.close();
  return [
    rowOf([name, quality, 'first'], vertices, once),
    rowOf([name, quality, `frames 2–${FRAMES}`], vertices, frames.reduce(together)),
  ];
}

async function count(scene: GpuScene, watch: LaunchWatch, resolve: () => Promise<Resolution>): Promise<Counted> {
  watch.clear();
  const { submittedSteps, maps } = scene;
  const { status, steps, searches, pairs } = await resolve();
  const launches = await watch.read();
  const byKernel = new Map<string, readonly [number, number]>();
  for (const { entry, didWork } of launches) {
    const [all, worked] = byKernel.get(entry) ?? [0, 0];
    byKernel.set(entry, [all + 1, worked + (didWork ? 1 : 0)]);
  }
  return {
    statuses: [status],
    steps,
    searches,
    submittedSteps: scene.submittedSteps - submittedSteps,
    submitted: launches.length,
    worked: launches.filter(({ didWork }) => didWork).length,
    readings: scene.maps - maps,
    contacts: pairs.activeContacts,
    rounds: pairs.colours,
    turns: scene.mostTurns,
    byKernel,
  };
}

/** The kernels with the most dispatches that had nothing to do. */
function emptiest({ byKernel }: Counted): string {
  return [...byKernel]
    .map(([entry, [all, worked]]) => ({ entry, empty: all - worked, all }))
    .sort((a, b) => b.empty - a.empty)
    .slice(0, 8)
    .map(({ entry, empty, all }) => `${entry} ${empty} of ${all}`)
    .join(', ');
}

function together(a: Counted, b: Counted): Counted {
  const byKernel = new Map(a.byKernel);
  for (const [entry, [all, worked]] of b.byKernel) {
    const [others, othersWorked] = byKernel.get(entry) ?? [0, 0];
    byKernel.set(entry, [all + others, worked + othersWorked]);
  }
  return {
    statuses: [...new Set([...a.statuses, ...b.statuses])],
    steps: a.steps + b.steps,
    searches: a.searches + b.searches,
    submittedSteps: a.submittedSteps + b.submittedSteps,
    submitted: a.submitted + b.submitted,
    worked: a.worked + b.worked,
    readings: a.readings + b.readings,
    contacts: Math.max(a.contacts, b.contacts),
    rounds: Math.max(a.rounds, b.rounds),
    turns: Math.max(a.turns, b.turns),
    byKernel,
  };
}

function rowOf(names: readonly string[], vertices: number, counted: Counted): string[] {
  const { statuses, steps, submittedSteps, searches, submitted, worked, readings, contacts, rounds, turns } = counted;
  return [
    ...names,
    statuses.join(', '),
    ...[vertices, steps, submittedSteps, searches, submitted, worked].map(String),
    (submitted / worked).toFixed(2),
    ...[readings, contacts, rounds, turns].map(String),
  ];
}
