import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { Engine, Resolution } from '../../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';

export interface Judged {
  readonly mesh: CollisionMesh;
  readonly resolution: Resolution;
  /** double[3·V], caller's unit */
  readonly positions: Float64Array;
  /** by vertex: it stands on its target, bit for bit */
  readonly arrived: readonly boolean[];
  /** intersections over all states, and collisions over all linear pieces of the path, as the engine computed them */
  readonly intersections: number;
  readonly collisions: number;
}

/** A case whose start is none: elements of it meet. */
export class CaseIntersects extends Error {
  constructor() {
    super('The case starts with intersections.');
  }
}

const RULES = { kinematicPairs: 'SKIP', maxPairs: 4 } as const;

/**
 * Runs one pair on an engine and judges every state and every linear piece in engine coordinates (float32, exact as
 * doubles), with the verifier that shares nothing with the engine. Without a quality it is Algorithm 1 alone.
 */
export async function resolveJudged(
  engine: Engine,
  input: MeshInput,
  start: Float64Array,
  target: Float64Array,
  overrides: ParametersInput = {},
  stopAfter = Number.POSITIVE_INFINITY,
): Promise<Judged> {
  const mesh = buildMesh(input);
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ quality: 'FAST', ...overrides }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const floor = floorOf(parameters.activationDistance, frame, 'FLOAT64');
  const scene = await engine.open(mesh, parameters, { scale: frame.scale, floor });
  const x = frame.toEngine(start);
  const y = frame.toEngine(target);
  if (findIntersections(mesh, x, RULES).intersectionCount > 0) throw new CaseIntersects();
  let previous = Float64Array.from(x);
  let intersections = 0;
  let collisions = 0;
  let steps = 0;
  const resolution = await scene.resolve({
    x,
    y,
    shouldStop: () => steps >= stopAfter,
    onState: (state) => {
      steps++;
      const next = Float64Array.from(state);
      intersections += findIntersections(mesh, next, RULES).intersectionCount;
      collisions += testPath(mesh, previous, next, RULES).collisionCount;
      previous = next;
    },
  });
  scene.close();
  const { positions } = resolution;
  const arrived = Array.from({ length: mesh.vertexCount }, (_, i) =>
    [0, 1, 2].every((axis) => Object.is(positions[3 * i + axis], y[3 * i + axis])),
  );
  return { mesh, resolution, positions: frame.toDouble(positions), arrived, intersections, collisions };
}
