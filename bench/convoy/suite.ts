import { createGpuEngine, type GpuEngine } from '../../gpu/engine.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { Resolution, Scene } from '../../src/solver/engine.js';
import { decideDoubtful, type StateFilter } from '../../src/verify/state.js';
import type { PairRules } from '../../src/verify/types.js';
import { makeCases } from '../cases.js';
import { deviceOptions } from '../device.js';
import { describeMachine } from '../machine.js';
import { fingerprint, spreadOf } from '../measure.js';
import { type EngineCase, prepare } from '../measure-engines.js';
import { alignTable } from '../table.js';

export interface ConvoyOptions {
  readonly scenes: readonly string[];
  /** empty = about 1,000 */
  readonly vertices: readonly number[];
  readonly qualities: readonly Quality[];
  /** number that step at the same time */
  readonly sessions: readonly number[];
  readonly dataFolder: string | undefined;
  print(text: string): void;
  /** reports progress */
  tell(text: string): void;
}

const VERTICES = [1000];
/** Frames of each session; the first one, in which pairs are found and buffers grow, is not counted. */
const FRAMES = 4;
/** ms, the default of the service */
const DELAY = 2;
/**
 * The sessions move by this share of the way, or less, each by a different share, so that they need different steps.
 */
const SPREAD = 0.2;

const RULES: PairRules = { kinematicPairs: 'PROTECT', maxPairs: 64 };

const HEADINGS = [
  ...['scene', 'vertices', 'quality', 'sessions', 'submitted', 'steps', 'steps/s', 'processor ms/step'],
  ...['dispatches/step', 'scenes/dispatch', 'slowest/median', 'same bytes'],
];

/** One way of submission, and the costs of its sessions so far. */
interface Contestant {
  readonly name: string;
  readonly engine: GpuEngine;
  readonly scenes: Scene[];
  /**
   * for each session whose answers are verified: the device's part of the test; the exact test of the remaining pairs
   * follows
   */
  readonly filters: StateFilter[];
  at: Float32Array[];
  steps: number;
  seconds: number;
  processorMs: number;
  dispatches: number;
  launches: number;
  /** ms by session */
  readonly took: number[];
  readonly prints: string[];
  hasContact: boolean;
}

/**
 * Measures sessions that step at the same time on one device, each alone and together, without and with verified
 * answers, alternating frame by frame.
 */
export async function runConvoy(options: ConvoyOptions): Promise<void> {
  const { print, tell } = options;
  const engines = await openContestants();
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
          rows.push(...(await compareConvoy(engines, prepared, sessions)).map((row) => [...names, ...cellsOf(row)]));
        }
      }
    }
    print(`${alignTable([HEADINGS, ...rows])}\n`);
  } finally {
    for (const engine of engines) await engine.close();
  }
}

/**
 * Opens the engines to compare: one whose scenes submit alone and one whose scenes submit together.
 *
 */
export async function openContestants(): Promise<GpuEngine[]> {
  const engines: GpuEngine[] = [];
  for (const scenes of [1, 64]) {
    const convoy = scenes > 1 ? { scenes, delay: DELAY } : undefined;
    const { engine, reason } = await createGpuEngine({
      ...deviceOptions(),
      convoy,
    });
    if (!engine) {
      for (const opened of engines) await opened.close();
      throw new Error(`The engine webgpu cannot be measured: ${reason}`);
    }
    engines.push(engine);
  }
  return engines;
}

/** The figures of sessions that submitted in one way. */
export interface ConvoyRow {
  readonly name: string;
  readonly steps: number;
  readonly stepsPerSecond: number;
  /** ms */
  readonly processorPerStep: number;
  readonly dispatchesPerStep: number;
  readonly scenesPerDispatch: number;
  readonly slowestOverMedian: number;
  /** whether the answers of scenes that submit alone and together have the same bytes */
  readonly isSame: boolean;
  /** whether every session had a contact in its last frame */
  readonly hasContact: boolean;
}

/** @param engines from {@link openContestants} */
export async function compareConvoy(
  engines: readonly GpuEngine[],
  prepared: EngineCase,
  sessions: number,
): Promise<ConvoyRow[]> {
  const contestants: Contestant[] = [];
  for (const [n, name] of ['alone', 'together', 'alone, verified', 'together, verified'].entries()) {
    const { mesh, parameters, units, x } = prepared;
    const engine = engines[n % 2]!;
    const [scenes, filters]: [Scene[], StateFilter[]] = [[], []];
    for (let k = 0; k < sessions; k++) {
      scenes.push(await engine.open(mesh, parameters, units));
      if (n > 1) filters.push(await engine.openStateFilter(mesh));
    }
    const none = { steps: 0, seconds: 0, processorMs: 0, dispatches: 0, launches: 0, hasContact: false, prints: [] };
    contestants.push({
      name,
      engine,
      scenes,
      filters,
      at: scenes.map(() => x),
      took: scenes.map(() => 0),
      ...none,
    });
  }
  for (let frame = 1; frame <= FRAMES; frame++) {
    for (const contestant of contestants) await runFrame(contestant, prepared, frame);
  }
  return contestants.map((contestant, n) => {
    for (const part of [...contestant.scenes, ...contestant.filters]) part.close();
    const [alone, together] = contestants.slice(n - (n % 2)) as [Contestant, Contestant];
    // Alone, every dispatch belongs to one scene.
    const { launches } = together;
    const counted = contestant === alone ? { ...alone, dispatches: launches, launches } : together;
    return rowOf(counted, alone.prints.join() === together.prints.join());
  });
}

/** All sessions begin their frame at the same time. */
async function runFrame(contestant: Contestant, { mesh, x, y }: EngineCase, frame: number): Promise<void> {
  const { engine, scenes, filters, at, took } = contestant;
  const before = engine.convoyCounts ?? { dispatches: 0, launches: 0 };
  const verdicts: string[] = [];
  const processor = process.cpuUsage();
  const since = performance.now();
  const resolved = await Promise.all(
    scenes.map(async (scene, k): Promise<Resolution> => {
      const share = (frame / FRAMES) * (1 - (SPREAD * k) / scenes.length);
      const target = y.map((value, c) => x[c]! + share * (value - x[c]!));
      const resolution = await scene.resolve({ x: at[k]!, y: target });
      if (filters[k]) verdicts[k] = await verify(filters[k], mesh, resolution.positions);
      if (frame > 1) took[k] = took[k]! + performance.now() - since;
      return resolution;
    }),
  );
  contestant.at = resolved.map(({ positions }) => positions);
  contestant.prints.push(...resolved.map(fingerprint), ...verdicts);
  contestant.hasContact = resolved.every(({ pairs }) => pairs.activeContacts > 0);
  if (frame === 1) return;
  const spent = process.cpuUsage(processor);
  const after = engine.convoyCounts;
  contestant.seconds += (performance.now() - since) / 1000;
  contestant.processorMs += (spent.user + spent.system) / 1000;
  contestant.steps += resolved.reduce((sum, { steps }) => sum + steps, 0);
  contestant.dispatches += after ? after.dispatches - before.dispatches : 0;
  contestant.launches += after ? after.launches - before.launches : 0;
}

/**
 * Tests a state.
 *
 * @returns the numbers of pairs that were tested and that intersect @throws Error for a state that intersects
 */
async function verify(filter: StateFilter, mesh: EngineCase['mesh'], positions: Float32Array): Promise<string> {
  const doubtful = await filter.findDoubtful(positions);
  if (!doubtful) throw new Error('The state filter gave up on a small mesh.');
  const { intersectionCount } = decideDoubtful(mesh, positions, RULES, doubtful);
  if (intersectionCount > 0) throw new Error(`An answer has ${intersectionCount} intersections.`);
  return `${doubtful.pairsTested} pairs tested`;
}

function rowOf(contestant: Contestant, isSame: boolean): ConvoyRow {
  const { name, steps, seconds, processorMs, dispatches, launches, took, hasContact } = contestant;
  const { median, max } = spreadOf(took);
  return {
    name,
    steps,
    stepsPerSecond: steps / seconds,
    processorPerStep: processorMs / steps,
    dispatchesPerStep: dispatches / steps,
    scenesPerDispatch: launches / dispatches,
    slowestOverMedian: max / median,
    isSame,
    hasContact,
  };
}

const cellsOf = (row: ConvoyRow): string[] => [
  row.name,
  String(row.steps),
  row.stepsPerSecond.toFixed(1),
  row.processorPerStep.toFixed(2),
  row.dispatchesPerStep.toFixed(2),
  row.scenesPerDispatch.toFixed(1),
  row.slowestOverMedian.toFixed(2),
  row.isSame ? 'yes' : 'no',
];
