import type { MeshInput, Positions } from '../../src/contract/mesh.js';
import type { UntangleAnswer, UntangleOptions } from '../../src/contract/untangle.js';
import { unitsOf } from '../../src/jobs/untangle-job.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import type { Engine } from '../../src/solver/engine.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { type UntangleTools, untangle } from '../../src/untangle/index.js';
import { findIntersections } from '../../src/verify/state.js';

export interface ToUntangle extends UntangleOptions {
  readonly mesh: MeshInput;
  readonly positions: Positions;
}

/** Untangles with the core itself, without a service. */
export async function untangleOne(
  { mesh: input, positions, ...options }: ToUntangle,
  engine: Engine,
  tools: Partial<UntangleTools> = {},
): Promise<UntangleAnswer> {
  const mesh = buildMesh(input);
  const measures = measureMesh(mesh, positions);
  const { parameters } = resolveParameters({}, measures);
  const units = unitsOf(mesh, positions, measures, parameters.activationDistance);
  return untangle(
    { mesh, positions, measures, ...units, parameters, options },
    {
      engine,
      testState: findIntersections,
      timeLeft: () => Number.POSITIVE_INFINITY,
      isCancelled: () => false,
      ...tools,
    },
  );
}
