import type { MeshInput } from '../../src/contract/mesh.js';
import type { Parameters, ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import type { Engine, EngineUnits, Resolution, Scene, StepInput } from '../../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { resolveParameters } from '../../src/solver/parameters.js';

export interface OpenCase {
  readonly scene: Scene;
  readonly parameters: Parameters;
  readonly units: EngineUnits;
  /** float32[3·V] start and target in engine coordinates */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** resolves the case itself */
  resolve(extra?: Omit<StepInput, 'x' | 'y'>): Promise<Resolution>;
}

/** Opens a scene for one pair of states without judging the answers; judged-resolve.ts does that. Quality FAST if none is set. */
export async function openCase(
  engine: Engine,
  input: MeshInput,
  start: Float64Array,
  target: Float64Array,
  overrides: ParametersInput = {},
): Promise<OpenCase> {
  const mesh = buildMesh(input);
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ quality: 'FAST', ...overrides }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const floor = floorOf(parameters.activationDistance, frame, 'FLOAT64');
  const units = { scale: frame.scale, floor };
  const scene = await engine.open(mesh, parameters, units);
  const x = frame.toEngine(start);
  const y = frame.toEngine(target);
  return { scene, parameters, units, x, y, resolve: (extra = {}) => scene.resolve({ ...extra, x, y }) };
}
