import { cancelled, IntersticeError } from '../contract/errors.js';
import type { CheckAnswer, MeshCheckRequest } from '../contract/requests.js';
import { buildMesh } from '../mesh/build.js';
import { checkPositions, checkRange } from '../mesh/positions.js';
import type { PairRules } from '../verify/types.js';
import type { JobContext } from './job-run.js';
import { NAMED_PAIRS } from './verifier.js';

/**
 * Tests a state and, on request, a straight path for intersections. Counts are complete; lists hold at most `maxPairs`.
 *
 * @throws IntersticeError: the refusals of mesh and positions, INVALID_PARAMETER, CANCELLED
 */
export function checkJob(
  request: MeshCheckRequest,
  { limits, verifier, isCancelled }: Pick<JobContext, 'limits' | 'verifier' | 'isCancelled'>,
): CheckAnswer {
  const { positions, pathEnd, reportPairsCloserThan } = request;
  const maxPairs = request.maxPairs ?? NAMED_PAIRS;
  if (!Number.isInteger(maxPairs) || maxPairs < 0 || maxPairs > MAX_PAIRS) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The value of maxPairs is ${maxPairs}; it must be a whole number from 0 to ${MAX_PAIRS}.`,
      { hint: 'It limits the lists only: the number of intersections is complete with any value, also 0.' },
    );
  }
  if (reportPairsCloserThan !== undefined && !(reportPairsCloserThan > 0 && reportPairsCloserThan < Infinity)) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The value of reportPairsCloserThan is ${reportPairsCloserThan}; it must be greater than 0 and finite.`,
    );
  }
  const mesh = buildMesh(request.mesh, limits);
  checkPositions(positions, mesh.vertexCount, 'positions');
  if (pathEnd) {
    checkPositions(pathEnd, mesh.vertexCount, 'pathEnd');
    checkRange(positions, pathEnd, 'pathEnd', { startName: 'positions' });
  }
  const checkpoint = (): void => {
    if (isCancelled()) throw cancelled();
  };
  checkpoint();
  const rules: PairRules = { kinematicPairs: request.kinematicPairs ?? 'SKIP', maxPairs, checkpoint };
  const state = verifier.findIntersections(mesh, positions, rules);
  const near =
    reportPairsCloserThan === undefined
      ? undefined
      : verifier.findDistances(mesh, positions, rules, reportPairsCloserThan);
  const isFree = state.intersectionCount === 0;
  // The path test finds pairs that begin to intersect. Pairs that intersect from the start may never begin to.
  const path = pathEnd && (isFree ? verifier.testPath(mesh, positions, pathEnd, rules) : COLLIDES_AT_START);
  return {
    intersectionFree: isFree,
    intersectionCount: state.intersectionCount,
    intersections: state.intersections,
    kinematicIntersectionCount: state.kinematicIntersectionCount,
    closePairs: near?.closePairs ?? [],
    ...(near?.minDistance === undefined ? {} : { minDistance: near.minDistance }),
    ...(path === undefined ? {} : { pathFree: path.pathFree }),
    ...(path?.earliestImpact === undefined ? {} : { earliestImpact: path.earliestImpact }),
  };
}

/** The findings for a path that begins with an intersection. */
const COLLIDES_AT_START = { pathFree: false, earliestImpact: 0 };

/** A list is built and sorted as objects, and n elements may form n² / 2 pairs: a small request must not fill the memory. */
const MAX_PAIRS = 65_536;
