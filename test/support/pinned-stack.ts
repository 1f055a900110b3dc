import type { Quality } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { Engine, Scene } from '../../src/solver/engine.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { stackSwap } from '../solver/cases.js';

/** Engine units per unit of the mesh: edges of about 1. */
const SCALE = 64;

export interface PinnedStack {
  readonly mesh: CollisionMesh;
  /** float32[3·V] engine units */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Opens a scene with a step limit of 6. */
  readonly open: (quality?: Quality, engine?: Engine) => Promise<Scene>;
}

/** Layers of n × n quads that change places; a pinned corner of each keeps them from moving rigidly before the first step. */
export function pinnedStack(n: number): PinnedStack {
  const builder = stackSwap(n);
  const { mesh: input } = builder.build();
  const corners = [0, input.vertexCount - 1];
  for (const corner of corners) input.kinematic![corner] = 1;
  const image = (positions: ArrayLike<number>) => Float32Array.from(positions, (value) => value * SCALE);
  const x = image(builder.start);
  const y = image(builder.target);
  for (const corner of corners) y.set(x.subarray(3 * corner, 3 * corner + 3), 3 * corner);
  const mesh = buildMesh(input);
  const open = async (quality: Quality = 'FAST', engine: Engine = createCpuEngine()): Promise<Scene> => {
    const { parameters } = resolveParameters(
      { stepLimit: 6, quality },
      measureMesh(mesh, Float32Array.from(builder.start)),
    );
    const units = { scale: SCALE, floor: parameters.activationDistance * 0.01 * SCALE };
    return engine.open(mesh, parameters, units);
  };
  return { mesh, x, y, open };
}
