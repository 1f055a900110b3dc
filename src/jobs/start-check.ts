import type { ElementPair } from '../contract/elements.js';
import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { IntersectingStart, Parameters } from '../contract/parameters.js';
import { ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { CoordinateFrame, StateToMap } from '../solver/frame.js';
import { findNear } from '../verify/excluded.js';
import type { VerifierMemory } from '../verify/memory.js';
import type { ListedPairRules, PairRules, StateFindings } from '../verify/types.js';
import { testState, type Verifier } from './verifier.js';

/**
 * Pairs that one start may have excluded: the lookup of a hundred thousand needs some 100 MB, and a state with more of
 * them is probably not a state of this mesh.
 */
export const MAX_EXCLUDED = 100_000;

/**
 * The start must be free of intersections in the caller's own numbers. Under IGNORE_PAIRS all pairs that intersect move
 * to `excludedPairs` of the findings.
 *
 * @throws INTERSECTING_START with some pairs and the complete count
 */
export async function checkStart(
  mesh: CollisionMesh,
  start: Positions,
  rules: PairRules,
  verifier: Verifier,
  policy: IntersectingStart,
  memory?: VerifierMemory,
): Promise<StateFindings> {
  if (policy === 'REJECT') {
    const findings = await testState(verifier, mesh, start, rules, memory);
    refuseIntersecting(findings.intersectionCount, findings.intersections);
    return findings;
  }
  const findings = await testState(verifier, mesh, start, { ...rules, maxPairs: MAX_EXCLUDED }, memory);
  refuseTooMany(findings.intersectionCount, findings.intersections, rules);
  return { ...findings, intersectionCount: 0, intersections: [], excludedPairs: findings.intersections };
}

/** @throws INTERSECTING_START @param pairs some of them */
export function refuseIntersecting(count: number, pairs: readonly ElementPair[]): void {
  if (count === 0) return;
  throw new IntersticeError(
    'INTERSECTING_START',
    `${count} ${count === 1 ? 'pair of elements intersects' : 'pairs of elements intersect'} in the start` +
      (count > pairs.length ? `; ${pairs.length} of them are named.` : '.'),
    { pairs, pairCount: count },
  );
}

/** @throws INTERSECTING_START for more pairs than can be excluded @param pairs some of them */
function refuseTooMany(count: number, pairs: readonly ElementPair[], { maxPairs }: PairRules): void {
  if (count <= MAX_EXCLUDED) return;
  throw new IntersticeError(
    'INTERSECTING_START',
    `${count} pairs of elements intersect in the start; at most ${MAX_EXCLUDED} can be excluded.`,
    { pairs: pairs.slice(0, maxPairs), pairCount: count },
  );
}

/** A start that has passed {@link checkStart}, and what is known of the step that led to it. */
interface FreeStart {
  readonly mesh: CollisionMesh;
  readonly start: Positions;
  readonly parameters: Parameters;
  readonly rules: ListedPairRules;
  readonly verifier: Verifier;
  /** of the exact test of the start */
  readonly findings: StateFindings;
  /** pairs that the step that led here excluded */
  readonly earlier?: ExcludedPairs | undefined;
  /** d_floor, the caller's unit */
  readonly floor: number;
  /** a path test has already shown that no pair touches except the excluded ones */
  readonly isTouchingKnown?: boolean;
}

/**
 * The pair rules of the step that begins at this start. REJECT excludes nothing, and under PATH no pair may touch.
 * IGNORE_PAIRS excludes
 * - pairs that intersect in the start;
 * - pairs that were excluded before and are not farther apart than the floor: such a pair, if it were included again, would
 *   have no room to move and, if no plane can be certified between its elements, would be frozen permanently;
 * - under PATH, pairs that touch without being found by the test of a state.
 *
 * @throws INTERSECTING_START, with some pairs, for pairs that touch under REJECT, and for more than {@link MAX_EXCLUDED}
 */
export function pairRulesFrom(free: FreeStart): ListedPairRules {
  const { mesh, start, parameters, rules, verifier, findings, earlier, floor } = free;
  const mustTestTouching = parameters.verify === 'PATH' && free.isTouchingKnown !== true;
  if (parameters.onIntersectingStart === 'REJECT') {
    if (mustTestTouching) checkTouching(mesh, start, rules, verifier);
    return rules;
  }
  const items = [...(findings.excludedPairs ?? [])];
  const known = new Set(items.map(keyOf));
  const parted = (earlier?.items ?? []).filter((pair) => !known.has(keyOf(pair)));
  items.push(...findNear(mesh, start, parted, floor));
  refuseTooMany(items.length, items, rules);
  if (mustTestTouching) items.push(...findTouching(free, items));
  return items.length === 0 ? rules : { ...rules, excluded: new ExcludedPairs(items) };
}

/** @returns the pairs that touch in the start and are not in `excluded` @throws INTERSECTING_START for too many of both */
function findTouching(
  { mesh, start, rules, verifier }: FreeStart,
  excluded: readonly ElementPair[],
): readonly ElementPair[] {
  const remaining = { ...rules, excluded: new ExcludedPairs(excluded), maxPairs: MAX_EXCLUDED };
  const { collisionCount, collisions } = verifier.testPath(mesh, start, start, remaining);
  refuseTooMany(excluded.length + collisionCount, collisions, rules);
  return collisions;
}

function keyOf({ kind, a, b }: ElementPair): string {
  return `${kind} ${a.join()}:${b.join()}`;
}

/**
 * Where the path is verified as well (PATH), no pair of the path test may touch before the path begins. The test of a state
 * does not find all of them: a rod may cross an edge of a triangle whose corner it shares. If it were accepted, such a pair
 * would look like a fault of the engine on the first piece of the path.
 *
 * @throws INTERSECTING_START with the pairs
 */
function checkTouching(mesh: CollisionMesh, start: Positions, rules: PairRules, verifier: Verifier): void {
  const { pathFree, collisionCount: pairCount, collisions: pairs } = verifier.testPath(mesh, start, start, rules);
  if (pathFree) return;
  throw new IntersticeError(
    'INTERSECTING_START',
    `${pairCount} ${pairCount === 1 ? 'pair of elements touches' : 'pairs of elements touch'} in the start.`,
    { pairs, pairCount },
  );
}

/**
 * If the coordinate frame must round the start, the rounded state must be free as well, and so must the straight path
 * from the start to it, which is a part of the path like any other (docs/method.md, S9).
 *
 * @throws TOLERANCE_TOO_SMALL with the pairs that intersect only because of the rounding
 */
export function checkEngineRounding(
  mesh: CollisionMesh,
  frame: CoordinateFrame,
  { start, startEngine }: Pick<StateToMap, 'start' | 'startEngine'>,
  rules: PairRules,
  verifier: Verifier,
): void {
  if (frame.isExact(start, startEngine)) return;
  // Both ends in the caller's coordinates, where o + x_e/s in double is the engine's state to 2⁻⁵³.
  const end = frame.toDouble(startEngine);
  refuseUnlessFree({ mesh, start, end, rules, verifier }, 'when the engine rounds them to float32');
}

/**
 * If the answer's scalar is narrower than the start's, the start rounded to it must be free as well, because it is the
 * answer when nothing moves.
 *
 * @throws TOLERANCE_TOO_SMALL with the pairs that intersect only because of the rounding
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
 * A pair that is disjoint at the start of a piece and intersects at its end collides on the way, so a free piece has a
 * free end. The state is tested only if the path test does not clear the piece, to distinguish a certain finding from a
 * possible one.
 */
function refuseUnlessFree({ mesh, start, end, rules, verifier }: Piece, where: string): void {
  const piece = verifier.testPath(mesh, start, end, rules);
  if (piece.pathFree) return;
  const rounded = verifier.findIntersections(mesh, end, rules);
  if (rounded.intersectionCount > 0) {
    throw tooClose(`touch or intersect ${where}`, rounded.intersectionCount, rounded.intersections);
  }
  throw tooClose(`may collide ${where}`, piece.collisionCount, piece.collisions);
}

function tooClose(what: string, pairCount: number, pairs: readonly ElementPair[]): IntersticeError {
  return new IntersticeError(
    'TOLERANCE_TOO_SMALL',
    `The start is free, but ${pairCount} ${pairCount === 1 ? 'pair is' : 'pairs are'} so close that they ${what}.`,
    {
      pairs,
      pairCount,
      hint: 'Separate the named pairs by a millionth of the size of the mesh, or send a smaller part of it; if the start is float64, send the target as float64 too.',
    },
  );
}
