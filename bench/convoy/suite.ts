import { createGpuEngine, type GpuEngine } from '../../gpu/engine.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { Resolution, Scene } from '../../src/solver/engine.js';
import { makeCases } from '../cases.js';
import { describeMachine } from '../machine.js';
import { fingerprint, spreadOf } from '../measure.js';
import { type EngineCase, prepare } from '../measure-engines.js';
import { alignTable } from '../table.js';

export interface ConvoyOptions {
  readonly scenes: readonly string[];
  /** empty = about 1,000 */
  readonly vertices: readonly number[];
  readonly qualities: readonly Quality[];
  /** that step at the same time */
  readonly sessions: readonly number[];
  readonly dataFolder: string | undefined;
  print(text: string): void;
  /** progress */
  tell(text: string): void;
}

const VERTICES = [1000];
/** Of each session; the first one, in which pairs are found and buffers grow, is not counted. */
const FRAMES = 4;
/** ms, the default of the service */
const DELAY = 2;
/** The sessions go as far as this share of the way, and less, each by its own: they do not need the same steps. */
const SPREAD = 0.2;

const HEADINGS = [
  ...['scene', 'vertices', 'quality', 'sessions', 'submitted', 'steps', 'steps/s', 'processor ms/step'],
  ...['dispatches/step', 'scenes/dispatch', 'slowest/median', 'same bytes'],
];

/** One way to submit, and what its sessions have taken so far. */
interface Contestant {
  readonly name: string;
  readonly engine: GpuEngine;
  readonly scenes: Scene[];
  at: Float32Array[];
  steps: number;
  seconds: number;
  processorMs: number;
  dispatches: number;
  launches: number;
  /** ms by session */
  readonly took: number[];
  readonly prints: string[];
}

/** Sessions that step at the same time on one device, each alone and together, frame by frame by turns. */
export async function runConvoy(options: ConvoyOptions): Promise<void> {
  const { print, tell } = options;
  const open = async (scenes: number): Promise<GpuEngine> => {
    const convoy = scenes > 1 ? { scenes, delay: DELAY } : undefined;
    const { engine, reason } = await createGpuEngine({ allowSoftware: true, skipValidation: true, convoy });
    if (!engine) throw new Error(`The engine webgpu cannot be measured: ${reason}`);
    return engine;
  };
  const engines = [await open(1), await open(64)];
  try {
    print(`${engines[0]!.description.name}, ${describeMachine([engines[0]!.description]).cores} cores\n`);
    const rows: string[][] = [];
    const vertices = options.vertices.length > 0 ? options.vertices : VERTICES;
    for await (const subject of makeCases(options.scenes, vertices, options.dataFolder)) {
      for (const quality of options.qualities) {
        for (const sessions of options.sessions) {
          tell(`${subject.scene}, ${subject.vertices} vertices, ${quality}, ${sessions} sessions …`);
          const { request } = subject;
          const prepared = prepare({ request: { ...request, parameters: { ...request.parameters, quality } } });
          const names = [subject.scene, String(subject.vertices), quality, String(sessions)];
          rows.push(...(await compare(engines, prepared, sessions)).map((row) => [...names, ...row]));
        }
      }
    }
    print(`${alignTable([HEADINGS, ...rows])}\n`);
  } finally {
    for (const engine of engines) await engine.close();
  }
}

async function compare(engines: readonly GpuEngine[], prepared: EngineCase, sessions: number): Promise<string[][]> {
  const contestants: Contestant[] = [];
  for (const [n, name] of ['alone', 'together'].entries()) {
    const { mesh, parameters, units, x } = prepared;
    const scenes: Scene[] = [];
    for (let k = 0; k < sessions; k++) scenes.push(await engines[n]!.open(mesh, parameters, units));
    const none = { steps: 0, seconds: 0, processorMs: 0, dispatches: 0, launches: 0, prints: [] };
    contestants.push({
      name,
      engine: engines[n]!,
      scenes,
      at: scenes.map(() => x),
      took: scenes.map(() => 0),
      ...none,
    });
  }
  for (let frame = 1; frame <= FRAMES; frame++) {
    for (const contestant of contestants) await runFrame(contestant, prepared, frame);
  }
  for (const { scenes } of contestants) for (const scene of scenes) scene.close();
  const [alone, together] = contestants as [Contestant, Contestant];
  const isSame = alone.prints.join() === together.prints.join();
  // Alone every dispatch is one of a scene.
  alone.dispatches = together.launches;
  alone.launches = together.launches;
  return contestants.map((contestant) => rowOf(contestant, isSame));
}

/** All sessions begin their frame at once. */
async function runFrame(contestant: Contestant, { x, y }: EngineCase, frame: number): Promise<void> {
  const { engine, scenes, at, took } = contestant;
  const before = engine.convoyCounts ?? { dispatches: 0, launches: 0 };
  const processor = process.cpuUsage();
  const since = performance.now();
  const resolved = await Promise.all(
    scenes.map(async (scene, k): Promise<Resolution> => {
      const share = (frame / FRAMES) * (1 - (SPREAD * k) / scenes.length);
      const target = y.map((value, c) => x[c]! + share * (value - x[c]!));
      const resolution = await scene.resolve({ x: at[k]!, y: target });
      if (frame > 1) took[k] = took[k]! + performance.now() - since;
      return resolution;
    }),
  );
  contestant.at = resolved.map(({ positions }) => positions);
  contestant.prints.push(...resolved.map(fingerprint));
  if (frame === 1) return;
  const spent = process.cpuUsage(processor);
  const after = engine.convoyCounts;
  contestant.seconds += (performance.now() - since) / 1000;
  contestant.processorMs += (spent.user + spent.system) / 1000;
  contestant.steps += resolved.reduce((sum, { steps }) => sum + steps, 0);
  contestant.dispatches += after ? after.dispatches - before.dispatches : 0;
  contestant.launches += after ? after.launches - before.launches : 0;
}

function rowOf(contestant: Contestant, isSame: boolean): string[] {
  const { name, steps, seconds, processorMs, dispatches, launches, took } = contestant;
  const { median, max } = spreadOf(took);
  return [
    name,
    String(steps),
    (steps / seconds).toFixed(1),
    (processorMs / steps).toFixed(2),
    (dispatches / steps).toFixed(2),
    (launches / dispatches).toFixed(1),
    (max / median).toFixed(2),
    isSame ? 'yes' : 'no',
  ];
}
