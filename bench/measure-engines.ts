import type { Parameters } from '../src/contract/parameters.js';
import { buildMesh } from '../src/mesh/build.js';
import { measureMesh } from '../src/mesh/measure.js';
import type { CollisionMesh } from '../src/mesh/types.js';
import type { EngineUnits, Resolution, Scene } from '../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../src/solver/frame.js';
import { resolveParameters } from '../src/solver/parameters.js';
import type { Case } from './cases.js';
import type { NamedEngine } from './engines.js';
import { fingerprint, type Measurement, type Stage, spreadOf } from './measure.js';

/** A case as input of an engine: one mesh, one start, one target for all engines. */
export interface EngineCase {
  readonly mesh: CollisionMesh;
  readonly parameters: Parameters;
  readonly units: EngineUnits;
  /** float32[3·V] in engine coordinates */
  readonly x: Float32Array;
  readonly y: Float32Array;
}

const ENGINE_STAGES = ['search', 'geometry', 'backward', 'forward'] as const;

/** Prepares a case as the service does (src/jobs/step-job.ts), without its checks of the start. */
export function prepare({ request }: Pick<Case, 'request'>): EngineCase {
  const mesh = buildMesh(request.mesh);
  const start = Float64Array.from(request.start);
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters(request.parameters, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const floor = floorOf(parameters.activationDistance, frame, 'FLOAT64');
  const units = { scale: frame.scale, floor };
  return { mesh, parameters, units, x: frame.toEngine(start), y: frame.toEngine(Float64Array.from(request.target)) };
}

/** The measurements of one engine. */
class Runs {
  readonly #open: number[] = [];
  readonly #walls: number[] = [];
  readonly #processors: number[] = [];
  readonly #stages: Record<(typeof ENGINE_STAGES)[number], number[]> = {
    search: [],
    geometry: [],
    backward: [],
    forward: [],
  };
  readonly #fingerprints = new Set<string>();
  #last: { resolution: Resolution; bytes: number; dispatches: number | undefined } | undefined;

  constructor(
    readonly named: NamedEngine,
    readonly prepared: EngineCase,
  ) {}

  /** Opens the scene again, so that every run makes its own searches. */
  async run(isCounted: boolean): Promise<void> {
    const { mesh, parameters, units, x, y } = this.prepared;
    const since = performance.now();
    const scene = await this.named.engine.open(mesh, parameters, units);
    try {
      const opened = performance.now();
      const usage = process.cpuUsage();
      const resolution = await scene.resolve({ x, y });
      const done = performance.now();
      const { user, system } = process.cpuUsage(usage);
      this.#fingerprints.add(fingerprint(resolution));
      if (!isCounted) return;
      this.#open.push(opened - since);
      this.#walls.push(done - opened);
      this.#processors.push((user + system) / 1000);
      for (const stage of ENGINE_STAGES) this.#stages[stage].push(resolution.timings[stage] / 1000);
      this.#last = { resolution, bytes: scene.bytes, dispatches: dispatchesOf(scene) };
    } finally {
      scene.close();
    }
  }

  summarise(subject: Case, repeats: number): Measurement {
    if (!this.#last) throw new Error('Nothing was measured: at least one repeat is needed.');
    const { resolution, bytes, dispatches } = this.#last;
    const { steps, searches, status, pairs } = resolution;
    const milliseconds = spreadOf(this.#walls);
    const of = (stage: Exclude<Stage, 'verify'>) => spreadOf(this.#stages[stage]);
    const stages = { search: of('search'), geometry: of('geometry'), backward: of('backward'), forward: of('forward') };
    const inStages = ENGINE_STAGES.reduce((sum, stage) => sum + stages[stage].median, 0);
    const perStep = Math.max(1, steps);
    return {
      scene: subject.scene,
      vertices: subject.vertices,
      triangles: subject.triangles,
      engine: this.named.engine.description.name,
      status,
      steps,
      searches,
      pairs: pairs.vertexTriangle + pairs.edgeEdge + pairs.vertexEdge + pairs.vertexVertex,
      milliseconds,
      stages: { ...stages, verify: { median: 0, min: 0, max: 0 } },
      millisecondsPerStep: milliseconds.median / perStep,
      rmsToTarget: rms(resolution.positions, this.prepared),
      repeats,
      isRepeatable: this.#fingerprints.size === 1,
      engineOnly: {
        openMilliseconds: spreadOf(this.#open),
        processorMilliseconds: spreadOf(this.#processors),
        stageMillisecondsPerStep: inStages / perStep,
        bytes,
        contacts: pairs.activeContacts,
        ...(dispatches === undefined ? {} : { dispatchesPerStep: dispatches }),
      },
    };
  }
}

const dispatchesOf = (scene: Scene): number | undefined =>
  'dispatchesPerStep' in scene ? Number(scene.dispatchesPerStep) : undefined;

/** metres */
function rms(positions: Float32Array, { y, units, parameters }: EngineCase): number {
  let sum = 0;
  for (let k = 0; k < y.length; k++) sum += (positions[k] - y[k]) ** 2;
  return (Math.sqrt(sum / Math.max(1, y.length / 3)) / units.scale) * parameters.metresPerUnit;
}

/**
 * Measures the same case on every engine; the engines alternate, so that other work of the machine slows all of them
 * equally. One measurement per engine, in their order.
 */
export async function measureEngines(
  engines: readonly NamedEngine[],
  subject: Case,
  repeats: number,
  warmUps: number,
): Promise<Measurement[]> {
  const prepared = prepare(subject);
  const runs = engines.map((named) => new Runs(named, prepared));
  for (let n = 0; n < warmUps + repeats; n++) for (const run of runs) await run.run(n >= warmUps);
  const measured = runs.map((run) => run.summarise(subject, repeats));
  const cpu = measured[engines.findIndex(({ name }) => name === 'cpu')];
  if (!cpu) return measured;
  return measured.map((m) =>
    m === cpu || !m.engineOnly
      ? m
      : { ...m, engineOnly: { ...m.engineOnly, ratioToCpu: m.millisecondsPerStep / cpu.millisecondsPerStep } },
  );
}
