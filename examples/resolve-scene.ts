import { availableParallelism } from 'node:os';
import type { Operations } from '../src/contract/operations.js';
import type { ParametersInput } from '../src/contract/parameters.js';
import type { ResolveAnswer, ResolveRequest } from '../src/contract/requests.js';
import type { Limits } from '../src/contract/server-info.js';
import { createOperations } from '../src/session/operations.js';
import type { Scene } from './scenes/types.js';

/** Limits for trusted use: only the machine bounds the work. */
const LIMITS: Limits = {
  maxVertices: 16_000_000,
  maxElements: 64_000_000,
  maxMessageBytes: 2 ** 32,
  maxSessions: 1,
  maxDeviceBytes: 2 ** 40,
  maxQueue: 16,
  maxTimeBudgetSeconds: 86_400,
};

/**
 * Opens the service's operations in this process, for the benchmark and the pictures. The caller closes them.
 *
 * @param cores threads that compute a request; 1 = its own only, which other work on the machine disturbs least
 */
export function openOperations(
  engine: 'auto' | 'cpu' | 'webgpu',
  threads = Math.max(1, availableParallelism() - 1),
  cores = 1,
): Promise<Operations> {
  return createOperations({ engine, threads, cores, limits: LIMITS, allowUnverified: false });
}

/** A scene as a request. */
export function requestOf(scene: Scene): ResolveRequest {
  const optional = <K extends 'triangles' | 'segments' | 'particles' | 'tetrahedra'>(kind: K) =>
    scene[kind].length > 0 ? { [kind]: scene[kind] } : {};
  return {
    mesh: {
      vertexCount: scene.vertexCount,
      ...optional('triangles'),
      ...optional('segments'),
      ...optional('particles'),
      ...optional('tetrahedra'),
      kinematic: Uint8Array.from({ length: scene.vertexCount }, (_, i) => (i < scene.kinematicFrom ? 0 : 1)),
    },
    start: scene.start,
    target: scene.target,
    parameters: scene.parameters,
  };
}

/** @param parameters beside those of the scene */
export const resolveScene = (
  operations: Operations,
  scene: Scene,
  parameters: ParametersInput = {},
): Promise<ResolveAnswer> => {
  const request = requestOf(scene);
  return operations.resolve({ ...request, parameters: { ...request.parameters, ...parameters } });
};
