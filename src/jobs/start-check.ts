import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { IntersectingStart } from '../contract/parameters.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { CoordinateFrame, StateToMap } from '../solver/frame.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import { testState, type Verifier } from './verifier.js';

/** Pairs that one start may have excluded: a hundred thousand cost some 100 MB to look up, and a state with more of them is
 *  not tangled but another mesh. */
export const MAX_EXCLUDED = 100_000;

/** @throws INTERSECTING_START for more pairs than can be excluded @param pairs some of them */
export function refuseTooMany(count: number, pairs: StateFindings['intersections'], { maxPairs }: PairRules): void {
  if (count <= MAX_EXCLUDED) return;
  throw new IntersticeError(
    'INTERSECTING_START',
    `${count} pairs of elements intersect in the start, which is more than the ${MAX_EXCLUDED} that can be excluded`,
    { pairs: pairs.slice(0, maxPairs), pairCount: count },
  );
}

/**
 * The start must be free of intersections, on the caller's own numbers. Under IGNORE_PAIRS those that there are move to
 * the findings' `excludedPairs`, all of them.
 *
 * @throws INTERSECTING_START with some pairs and the complete count
 */
export async function checkStart(
  mesh: CollisionMesh,
  start: Positions,
  rules: PairRules,
  verifier: Verifier,
  policy: IntersectingStart,
): Promise<StateFindings> {
  if (policy === 'REJECT') {
    const findings = await testState(verifier, mesh, start, rules);
    refuseIntersecting(findings.intersectionCount, findings.intersections);
    return findings;
  }
  const findings = await testState(verifier, mesh, start, { ...rules, maxPairs: MAX_EXCLUDED });
  refuseTooMany(findings.intersectionCount, findings.intersections, rules);
  return { ...findings, intersectionCount: 0, intersections: [], excludedPairs: findings.intersections };
}

/** @throws INTERSECTING_START @param pairs some of them */
export function refuseIntersecting(count: number, pairs: StateFindings['intersections']): void {
  if (count > 0) {
    throw new IntersticeError(
      'INTERSECTING_START',
      `${count} ${count === 1 ? 'pair of elements intersects' : 'pairs of elements intersect'} in the start` +
        (count > pairs.length ? `; ${pairs.length} of them are named` : ''),
      { pairs, pairCount: count },
    );
  }
}

/**
 * Where the path is to be judged as well (PATH), no pair of the path test may touch before it begins. The state test does
 * not see all of them: a rod may cross an edge of a triangle whose corner it shares. Left in, such a pair would look like a
 * fault of the engine on the very first piece.
 *
 * @throws INTERSECTING_START with the pairs
 */
export function checkTouching(mesh: CollisionMesh, start: Positions, rules: PairRules, verifier: Verifier): void {
  const { pathFree, collisionCount: pairCount, collisions: pairs } = verifier.testPath(mesh, start, start, rules);
  if (pathFree) return;
  throw new IntersticeError(
    'INTERSECTING_START',
    `${pairCount} ${pairCount === 1 ? 'pair of elements touches' : 'pairs of elements touch'} in the start`,
    { pairs, pairCount },
  );
}

/**
 * Both checks of rounding, for a start that nothing is known of.
 *
 * @throws TOLERANCE_TOO_SMALL with the pairs that only the rounding brings together
 */
export function checkRounding(...[mesh, frame, images, rules, verifier]: Parameters<typeof checkNarrowing>): void {
  checkEngineRounding(mesh, frame, images, rules, verifier);
  checkNarrowing(mesh, frame, images, rules, verifier);
}

/**
 * Where the frame had to round the start, the numbers that the engine starts from must be free as well, and so must the
 * tiny piece between the two, which is a part of the path as any other.
 *
 * @throws TOLERANCE_TOO_SMALL with the pairs that only the rounding brings together
 */
export function checkEngineRounding(
  mesh: CollisionMesh,
  frame: CoordinateFrame,
  { start, startEngine }: Pick<StateToMap, 'start' | 'startEngine'>,
  rules: PairRules,
  verifier: Verifier,
): void {
  if (frame.isExact(start, startEngine)) return;
  // Both ends in one coordinate system, the caller's, where o + x_e/s in double is the engine's state to 2⁻⁵³.
  const end = frame.toDouble(startEngine);
  refuseUnlessFree({ mesh, start, end, rules, verifier }, 'when the engine rounds them to float32');
}

/**
 * The start in the answer's scalar, where that is narrower, must be free as well: it is what an answer without any motion
 * would be.
 *
 * @throws TOLERANCE_TOO_SMALL with the pairs that only the rounding brings together
 */
export function checkNarrowing(
  mesh: CollisionMesh,
  frame: CoordinateFrame,
  images: Omit<StateToMap, 'engine'>,
  rules: PairRules,
  verifier: Verifier,
): void {
  const { start, startEngine, target } = images;
  if (!(start instanceof Float64Array && target instanceof Float32Array)) return;
  const end = frame.toCaller({ ...images, engine: startEngine });
  refuseUnlessFree({ mesh, start, end, rules, verifier }, 'in float32, the scalar of the target and so of the answer');
}

interface Piece {
  readonly mesh: CollisionMesh;
  readonly start: Positions;
  readonly end: Positions;
  readonly rules: PairRules;
  readonly verifier: Verifier;
}

/**
 * A pair that is apart in the start and meets in the end meets on the way, so a free piece has a free end: the state is only
 * asked for after a piece that could not be cleared, to tell a certain finding from a possible one.
 */
function refuseUnlessFree({ mesh, start, end, rules, verifier }: Piece, where: string): void {
  const piece = verifier.testPath(mesh, start, end, rules);
  if (piece.pathFree) return;
  const rounded = verifier.findIntersections(mesh, end, rules);
  if (rounded.intersectionCount > 0) {
    throw tooClose(`touch or intersect ${where}`, rounded.intersectionCount, rounded.intersections);
  }
  throw tooClose(`may meet ${where}`, piece.collisionCount, piece.collisions);
}

function tooClose(what: string, pairCount: number, pairs: StateFindings['intersections']): IntersticeError {
  return new IntersticeError(
    'TOLERANCE_TOO_SMALL',
    `the start is free, but ${pairCount} ${pairCount === 1 ? 'pair is' : 'pairs are'} so close that they ${what}`,
    {
      pairs,
      pairCount,
      hint: 'Separate the named pairs by a millionth of the size of the mesh, or send a smaller part of it; send the target as float64 if the start is.',
    },
  );
}
