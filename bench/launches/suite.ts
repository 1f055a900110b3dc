import { createGpuEngine, type GpuEngine } from '../../gpu/engine.js';
import type { GpuScene } from '../../gpu/scene.js';
import { type EdgePlan, planEdges } from '../../gpu/step/edge-plan.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { Resolution } from '../../src/solver/engine.js';
import { type Case, makeCases } from '../cases.js';
import { deviceOptions } from '../device.js';
import { describeMachine } from '../machine.js';
import { prepare } from '../measure-engines.js';
import { SLOW_SHARES } from '../scenes/slow-layers.js';
import { alignTable } from '../table.js';
import { barOf, H100, MOST_TURNS_OF_STEP, modelOf } from './model.js';
import { countTurns, type Turns } from './turns.js';
import { LaunchWatch } from './watch.js';

export interface LaunchesOptions {
  readonly scenes: readonly string[];
  /** empty = the size of the committed examples, and LAYERS of the layers */
  readonly vertices: readonly number[];
  readonly qualities: readonly Quality[];
  readonly dataFolder: string | undefined;
  /** prints one row for a request */
  print(text: string): void;
  /** reports progress */
  tell(text: string): void;
}

/** Vertices of the layers in addition to the example's own size. */
const LAYERS = [10_000];

/** Kernels whose device time is listed. */
const MOST_KERNELS_SHOWN = 12;

/** Frames of a session that approaches the target in equal parts. */
const FRAMES = 4;

/**
 * Vertices beyond which only the first request is counted, because each of the others takes minutes on a software
 * adapter.
 */
const MOST_VERTICES_OF_SESSION = 100_000;

type OfKernel = readonly [submitted: number, worked: number, microseconds: number];

/** The submissions of one request, or of several of a session. */
interface Counted {
  readonly statuses: readonly string[];
  readonly steps: number;
  readonly searches: number;
  readonly submittedSteps: number;
  readonly submitted: number;
  readonly worked: number;
  readonly readings: number;
  readonly bytesRead: number;
  readonly bytesHeld: number;
  readonly contacts: number;
  readonly rounds: number;
  readonly turns: Turns;
  /** dispatches by kernel: submitted, with work, and µs on the device (0 if it has no time stamps) */
  readonly byKernel: ReadonlyMap<string, OfKernel>;
}

const HEADINGS = [
  ...['scene', 'quality', 'request', 'status', 'vertices', 'steps', 'submitted steps', 'searches'],
  ...[
    'dispatches',
    'with work',
    'ratio',
    'readings',
    'contacts',
    'rounds',
    'serial turns',
    'in the pull-back',
    'to colour',
  ],
];

const MODEL_HEADINGS = [
  ...['scene', 'quality', 'request', 'vertices', 'steps', 'submitted steps', 'dispatches', 'readings', 'kB read'],
  ...['turns of a step', 'turns, contacts', 'turns, edges'],
  ...['dispatches ms', 'recording ms', 'turns ms', 'readings ms', 'memory ms', 'all ms', 'bar ms', 'met'],
];

/** A request, or several of a session. */
interface Row {
  readonly scene: string;
  readonly quality: Quality;
  readonly request: string;
  readonly vertices: number;
  readonly counted: Counted;
}

/**
 * Counts the dispatches of first requests and of sessions, as on hardware (steps are submitted ahead of their status,
 * and workgroups have as many threads) and as on software (step by step). Counts do not depend on the adapter.
 */
export async function runLaunches(options: LaunchesOptions): Promise<void> {
  const { scenes, vertices, qualities, dataFolder, print, tell } = options;
  for (const runsAhead of [true, false]) {
    const watch = new LaunchWatch(runsAhead);
    const { engine, reason } = await createGpuEngine({
      ...deviceOptions(),
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
      const rows: Row[] = [];
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
      print(`${alignTable([HEADINGS, ...rows.map(cellsOf)])}\n`);
      // On hardware, steps are always submitted ahead of their status.
      if (runsAhead) {
        print(
          `What a model says of them on an H100, within a factor of three: ${JSON.stringify(H100)}; at most ${MOST_TURNS_OF_STEP} turns of a step\n`,
        );
        print(`${alignTable([MODEL_HEADINGS, ...rows.map(modelCellsOf)])}\n`);
        // A card would only repeat the counts of a software adapter.
        if (!engine.description.software) return;
      }
    } finally {
      await engine.close();
    }
  }
}

/**
 * Counts a first request for the whole way, then a session that covers it in frames, the first of which is not counted.
 */
async function countCase(
  engine: GpuEngine,
  watch: LaunchWatch,
  { scene: name, vertices, request }: Case,
  quality: Quality,
  tell: (text: string) => void,
): Promise<Row[]> {
  const asked = { request: { ...request, parameters: { ...request.parameters, quality } } };
  const { mesh, parameters, units, x, y } = prepare(asked);
  const edges = planEdges(mesh as CollisionMesh, true);
  const open = async (): Promise<GpuScene> => (await engine.open(mesh, parameters, units)) as GpuScene;
  const rowOf = (asked: string, counted: Counted): Row => ({ scene: name, quality, request: asked, vertices, counted });
  const first = await open();
  const once = await count(first, watch, edges, () => first.resolve({ x, y }));
  first.close();
  tell(`  with work, of all: ${kernelsOf(once)}`);
  const tellTimes = (counted: Counted): void => {
    const times = timesOf(counted);
    if (times !== undefined) tell(`  ${times}`);
  };
  tellTimes(once);
  if (vertices > MOST_VERTICES_OF_SESSION) return [rowOf('first', once)];
  /** Returns the submissions of each frame of a session, by shares of the way. */
  const inFrames = async (shares: readonly number[]): Promise<Counted[]> => {
    const session = await open();
    let at = x;
    const frames: Counted[] = [];
    for (const share of shares) {
      const target = share === 1 ? y : y.map((value, c) => x[c] + share * (value - x[c]));
      const counted = await count(session, watch, edges, async () => {
        const resolution = await session.resolve({ x: at, y: target });
        at = resolution.positions;
        return resolution;
      });
      frames.push(counted);
    }
    session.close();
    return frames;
  };
  const frames = await inFrames(Array.from({ length: FRAMES }, (_, k) => (k + 1) / FRAMES));
  const later = frames.slice(1).reduce(together);
  tellTimes(later);
  const rows = [rowOf('first', once), rowOf(`frames 2–${FRAMES}`, later)];
  if (name === 'layers') rows.push(rowOf('slow frame', (await inFrames(SLOW_SHARES)).at(-1)!));
  return rows;
}

async function count(
  scene: GpuScene,
  watch: LaunchWatch,
  edges: EdgePlan,
  resolve: () => Promise<Resolution>,
): Promise<Counted> {
  watch.clear();
  const { submittedSteps, maps, readBytes } = scene;
  const { status, steps, searches, pairs } = await resolve();
  const launches = await watch.read();
  const byKernel = new Map<string, OfKernel>();
  for (const { entry, didWork, microseconds = 0 } of launches) {
    const [all, worked, spent] = byKernel.get(entry) ?? [0, 0, 0];
    byKernel.set(entry, [all + 1, worked + (didWork ? 1 : 0), spent + microseconds]);
  }
  return {
    statuses: [status],
    steps,
    searches,
    submittedSteps: scene.submittedSteps - submittedSteps,
    submitted: launches.length,
    worked: launches.filter(({ didWork }) => didWork).length,
    readings: scene.maps - maps,
    bytesRead: scene.readBytes - readBytes,
    bytesHeld: scene.bytes,
    contacts: pairs.activeContacts,
    rounds: pairs.colours,
    turns: countTurns(launches, edges),
    byKernel,
  };
}

/** Dispatches of each kernel, in the order of their first occurrence. */
const kernelsOf = ({ byKernel }: Counted): string =>
  [...byKernel].map(([entry, [all, worked]]) => `${entry} ${worked} of ${all}`).join(', ');

/**
 * Returns the device time of each kernel, the longest first; undefined = it has no time stamps. Each dispatch is a pass
 * of its own here, which takes a little longer than within one.
 */
function timesOf({ byKernel }: Counted): string | undefined {
  const spent = [...byKernel].map(([entry, [, worked, microseconds]]) => ({ entry, worked, microseconds }));
  const all = spent.reduce((sum, { microseconds }) => sum + microseconds, 0);
  if (all === 0) return undefined;
  const longest = spent.sort((a, b) => b.microseconds - a.microseconds).slice(0, MOST_KERNELS_SHOWN);
  const texts = longest.map(
    ({ entry, worked, microseconds }) => `${entry} ${(microseconds / 1000).toFixed(2)} ms (${worked})`,
  );
  return `${(all / 1000).toFixed(2)} ms on the device, with dispatches that had work: ${texts.join(', ')}`;
}

function together(a: Counted, b: Counted): Counted {
  const byKernel = new Map(a.byKernel);
  for (const [entry, [all, worked, spent]] of b.byKernel) {
    const [others, othersWorked, othersSpent] = byKernel.get(entry) ?? [0, 0, 0];
    byKernel.set(entry, [all + others, worked + othersWorked, spent + othersSpent]);
  }
  return {
    statuses: [...new Set([...a.statuses, ...b.statuses])],
    steps: a.steps + b.steps,
    searches: a.searches + b.searches,
    submittedSteps: a.submittedSteps + b.submittedSteps,
    submitted: a.submitted + b.submitted,
    worked: a.worked + b.worked,
    readings: a.readings + b.readings,
    bytesRead: a.bytesRead + b.bytesRead,
    bytesHeld: Math.max(a.bytesHeld, b.bytesHeld),
    contacts: Math.max(a.contacts, b.contacts),
    rounds: Math.max(a.rounds, b.rounds),
    turns: {
      ofSweep: Math.max(a.turns.ofSweep, b.turns.ofSweep),
      ofPullBack: Math.max(a.turns.ofPullBack, b.turns.ofPullBack),
      ofColouring: Math.max(a.turns.ofColouring, b.turns.ofColouring),
      ofStep: Math.max(a.turns.ofStep, b.turns.ofStep),
      overContacts: a.turns.overContacts + b.turns.overContacts,
      overEdges: a.turns.overEdges + b.turns.overEdges,
    },
    byKernel,
  };
}

function cellsOf({ scene, quality, request, vertices, counted }: Row): string[] {
  const { statuses, steps, submittedSteps, searches, submitted, worked, readings, contacts, rounds, turns } = counted;
  return [
    ...[scene, quality, request, statuses.join(', ')],
    ...[vertices, steps, submittedSteps, searches, submitted, worked].map(String),
    (submitted / worked).toFixed(2),
    ...[readings, contacts, rounds, turns.ofSweep, turns.ofPullBack, turns.ofColouring].map(String),
  ];
}

function modelCellsOf({ scene, quality, request, vertices, counted }: Row): string[] {
  const { steps, submittedSteps, submitted: dispatches, readings, bytesRead, bytesHeld, turns } = counted;
  const all = turns.overContacts + turns.overEdges;
  const modelled = modelOf({ dispatches, turns: all, readings, bytesRead, steps, bytesHeld });
  const bar = barOf(scene, quality, request, vertices);
  return [
    ...[scene, quality, request],
    ...[vertices, steps, submittedSteps, dispatches, readings, Math.round(bytesRead / 1000)].map(String),
    ...[turns.ofStep, turns.overContacts, turns.overEdges].map(String),
    ...[modelled.dispatches, modelled.recording, modelled.turns, modelled.readings, modelled.memory].map((ms) =>
      ms.toFixed(2),
    ),
    modelled.all.toFixed(2),
    ...(bar === undefined ? ['', ''] : [String(bar), modelled.all <= bar ? 'yes' : 'no']),
  ];
}
