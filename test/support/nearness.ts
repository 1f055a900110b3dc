import type { Test } from 'tap';
import { readReferences } from '../../bench/fidelity/references-file.js';
import { SCENES } from '../../examples/scenes/index.js';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput, Quality } from '../../src/contract/parameters.js';
import type { Engine } from '../../src/solver/engine.js';
import { type Judged, resolveJudged } from './judged-resolve.js';
import type { Random } from './random.js';

/** Root mean square distance of the dynamic vertices to the target. */
export function rmsOf({ mesh, positions }: Judged, target: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < mesh.vertexCount; i++) {
    if (mesh.kinematic[i]) continue;
    count++;
    for (let c = 3 * i; c < 3 * i + 3; c++) sum += (positions[c] - target[c]) ** 2;
  }
  return Math.sqrt(sum / count);
}

/**
 * What {@link stretchOf} may exceed a stretch limit by, as a share: the limit holds for float32 positions of the
 * engine, relative to lengths of the target as the caller sends it.
 */
export const STRETCH_ROUNDING = 1e-4;

/** The largest length of an edge with a dynamic vertex, relative to its length in the target. */
export function stretchOf({ mesh, positions }: Pick<Judged, 'mesh' | 'positions'>, target: Float64Array): number {
  const length = (x: Float64Array, i: number, j: number) =>
    Math.hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1], x[3 * i + 2] - x[3 * j + 2]);
  let largest = 0;
  for (const edges of [mesh.edges, mesh.innerEdges]) {
    for (let e = 0; e < edges.length; e += 2) {
      const [i, j] = [edges[e], edges[e + 1]];
      if (mesh.kinematic[i] && mesh.kinematic[j]) continue;
      const rest = length(target, i, j);
      if (rest > 0) largest = Math.max(largest, length(positions, i, j) / rest);
    }
  }
  return largest;
}

export interface ExamplePair {
  readonly mesh: MeshInput;
  readonly start: Float64Array;
  readonly target: Float64Array;
  readonly parameters: ParametersInput;
}

/** An example at its own size. */
export function examplePair(name: string): ExamplePair {
  const scene = SCENES[name](undefined);
  const kinematic = Uint8Array.from({ length: scene.vertexCount }, (_, i) => (i < scene.kinematicFrom ? 0 : 1));
  const { vertexCount, triangles, segments, particles, tetrahedra, parameters } = scene;
  const mesh = { vertexCount, kinematic, triangles, segments, particles, tetrahedra };
  return { mesh, start: Float64Array.from(scene.start), target: Float64Array.from(scene.target), parameters };
}

const resolved = new WeakMap<Engine, Map<string, Promise<Judged>>>();

/** The judged answer of an engine to an example. The engine resolves it once, however many tests of a file ask for it. */
export function resolveExample(engine: Engine, name: string, quality: Quality): Promise<Judged> {
  const answers = resolved.get(engine) ?? new Map<string, Promise<Judged>>();
  resolved.set(engine, answers);
  const key = `${name} ${quality}`;
  const known = answers.get(key);
  if (known) return known;
  const { mesh, start, target, parameters } = examplePair(name);
  const answer = resolveJudged(engine, mesh, start, target, { ...parameters, quality });
  answers.set(key, answer);
  return answer;
}

/** How much farther from their targets answers may lie than the reference of their scene, as a share (docs/measurements.md). */
const FARTHEST = 0.03;

/** Answers of BALANCED are about as near to their targets as the reference, keep every edge limit, and are safe. */
export async function expectNearReference(t: Test, engine: Engine, names: readonly string[]): Promise<void> {
  const references = readReferences();
  for (const name of names) {
    const { target } = examplePair(name);
    const judged = await resolveExample(engine, name, 'BALANCED');
    t.equal(judged.intersections + judged.collisions, 0, `${name}: safe`);
    t.equal(judged.resolution.status, 'CONVERGED', name);
    const stretch = stretchOf(judged, target);
    t.ok(stretch <= 1.1 * (1 + STRETCH_ROUNDING), `${name}: stretch ${stretch}`);
    const [rms, reference] = [rmsOf(judged, target), references[name]!.rms];
    t.ok(rms <= (1 + FARTHEST) * reference, `${name}: rms ${rms}, the reference ${reference}`);
  }
}

/** Parameters of a pull-back at random. */
export function randomPullBack(random: Random): ParametersInput {
  return {
    quality: random() < 0.3 ? 'FINE' : 'BALANCED',
    forward: random() < 0.25 ? 'ISOTROPIC' : 'PLANAR',
    contact: random() < 0.5 ? 'VOLUME' : 'GAP',
    stepLimit: 40,
    stretchLimit: [0, 1.01, 1.1, 2][random.int(4)],
    activationDistance: [1e-3, 1e-2, 0.1][random.int(3)],
    damping: [0.5, 0.9, 0.999][random.int(3)],
  };
}
