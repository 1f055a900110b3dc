import type { EdgePlan } from '../../gpu/step/edge-plan.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { PairSet } from '../../src/solver/cpu/pair-set.js';
import { Proximity } from '../../src/solver/cpu/proximity.js';
import { Workspace } from '../../src/solver/cpu/workspace.js';
import type { PullBackSettings, Settings } from '../../src/solver/settings.js';
import type { StageInput } from './gpu-step.js';
import { looseScene } from './loose-scene.js';
import type { Random } from './random.js';
import { SceneBuilder } from './scene-builder.js';

/** The step that a bench of the pull-back is at. */
export const CLOCK = 7;
export const PLAN: PullBackSettings = {
  sweeps: 32,
  tau: 0.2,
  minGain: 0.03,
  offset: 0.25,
  reservedSteps: 0,
  shorteningSteps: 0,
  finer: undefined,
};

/** The largest difference of two arrays. */
export function worstOf(a: Float32Array, b: Float32Array): number {
  let worst = 0;
  for (let k = 0; k < b.length; k++) worst = Math.max(worst, Math.abs(a[k] - b[k]));
  return worst;
}

/** A sheet of n × n quads with edges of 1, every coordinate moved by up to `noise`; a tenth of the vertices are kinematic. */
export function sheet(
  random: Random,
  n: number,
  noise: number,
): { mesh: CollisionMesh; rest: Float32Array; x: Float32Array } {
  const scene = new SceneBuilder();
  scene.sheet(n, (u, v) => ({ at: [n * u, 0, n * v], to: [n * u, 0, n * v] }));
  const mesh = buildMesh(scene.build().mesh);
  const rest = Float32Array.from(scene.start);
  const x = rest.map((value) => value + noise * random.between(-1, 1));
  const inverseMasses = mesh.inverseMasses.map((w) => (random() < 0.1 ? 0 : w * random.between(0.5, 2)));
  return { mesh: { ...mesh, inverseMasses }, rest, x };
}

/** What a bench needs of a scene without pairs. */
export function lone(mesh: CollisionMesh, settings: Settings, x: Float32Array, y: Float32Array): StageInput {
  const box = new Float32Array(6 * mesh.vertexCount);
  for (let q = 0; q < box.length; q++) box[q] = q % 6 < 3 ? -1e6 : 1e6;
  return { mesh, settings, x, y, box, pairs: new PairSet(new Workspace().geometry), clock: CLOCK };
}

/** Loose elements in a box of side 6, with their pairs. */
export function withPairs(random: Random, settings: Settings, elements: number): StageInput {
  const { mesh, x, y } = looseScene(random, { elements, side: 6, travel: 1, kinematic: 0.15, still: 0.2 });
  const proximity = new Proximity(mesh, settings);
  proximity.renew(x, y);
  return { mesh, settings, x, y, pairs: proximity.pairs, box: proximity.boxes.box, clock: CLOCK };
}

/** The edges of a plan as the reference takes them. */
export function colouredEdges({ ends, colours }: EdgePlan) {
  return { ends, offsets: colours, colours: colours.length - 1 };
}

/** The largest |x − y*| on an axis of a dynamic vertex. */
export function unitOf({ inverseMasses }: CollisionMesh, x: Float32Array, target: Float32Array): number {
  let largest = 0;
  x.forEach((value, k) => {
    if (inverseMasses[Math.floor(k / 3)] > 0) largest = Math.max(largest, Math.abs(value - target[k]));
  });
  return largest;
}
