import { IntersticeError } from '../contract/errors.js';
import type { ResolveAnswer, ResolveRequest } from '../contract/requests.js';

/**
 * The smallest request that exercises everything: two triangles, one above the other, the upper one sent through the lower.
 * A server is ready when a worker has answered it, verified and without crossing.
 */
export function probeRequest(): ResolveRequest {
  const lower = [0, 0, 0, 1, 0, 0, 0, 1, 0];
  const at = (height: number) => [0.2, 0.2, height, 1.2, 0.2, height, 0.2, 1.2, height];
  return {
    mesh: { vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5) },
    start: Float32Array.of(...lower, ...at(0.5)),
    target: Float32Array.of(...lower, ...at(-0.5)),
    parameters: { verify: 'PATH' },
  };
}

/** @throws INTERNAL when the answer is not what every working engine gives: the upper triangle, still above */
export function judgeProbe(answer: ResolveAnswer): void {
  const { positions, report } = answer;
  const isAbove = [3, 4, 5].every((v) => positions[3 * v + 2]! > Math.min(positions[2]!, positions[5]!, positions[8]!));
  if (!report.verification.fellBack && isAbove) return;
  throw new IntersticeError(
    'INTERNAL',
    `engine ${report.engine} failed its probe: ${report.verification.fellBack ? 'the verifier refused its answer' : 'it let two triangles cross'}`,
  );
}
