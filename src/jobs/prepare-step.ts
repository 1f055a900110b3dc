import { IntersticeError, type Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters, ParametersInput } from '../contract/parameters.js';
import type { IncludeInput } from '../contract/requests.js';
import { findBounds } from '../mesh/measure.js';
import { checkPositions, checkRange, isEqual, scalarOf } from '../mesh/positions.js';
import { checkRestLengths } from '../mesh/rest-lengths.js';
import { checkRestShapes } from '../mesh/strain.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import { frameLength, type StateToMap } from '../solver/frame.js';
import { warnOfForeignParts } from '../solver/methods.js';
import { resolveParameters } from '../solver/parameters.js';
import { checkPartDistances, rangeOfDistances } from '../solver/part-distances.js';
import { checkPartOffsets } from '../solver/part-offsets.js';
import { findResting } from '../solver/resting.js';
import { checkStrainLimits } from '../solver/strain/check.js';
import type { VerifierMemory } from '../verify/memory.js';
import type { ListedPairRules, StateFindings } from '../verify/types.js';
import type { StartMeasures } from './held-state.js';
import type { JobRun } from './job-run.js';
import type { ResidentScene } from './resident-scene.js';
import type { ResidentScenes } from './resident-scenes.js';
import { type ChosenFrame, frameFor } from './scene-frame.js';
import { checkEngineRounding, checkNarrowing, checkStart, pairRulesFrom, refuseIntersecting } from './start-check.js';
import type { StepCosts } from './step-costs.js';
import { checkTarget } from './target.js';
import type { StepTask } from './tasks.js';
import { NAMED_PAIRS } from './verifier.js';

/** Parameters with their defaults, and what follows from them. */
interface SettledParameters {
  readonly parameters: Parameters;
  readonly warnings: readonly Warning[];
  /** the smallest δ of all parts, the caller's unit */
  readonly smallestDelta: number;
  /** for the checks of the start */
  readonly rules: ListedPairRules;
}

/** A step whose input has passed all checks: what the engine, the verifier and the report work with. */
export interface PreparedStep {
  readonly mesh: CollisionMesh;
  readonly measures: MeshMeasures;
  readonly parameters: Parameters;
  readonly parameterWarnings: readonly Warning[];
  readonly chosen: ChosenFrame;
  readonly images: Omit<StateToMap, 'engine'>;
  readonly rules: ListedPairRules;
  /** of the scene's verifier */
  readonly memory: VerifierMemory;
  /** of the scene */
  readonly costs: StepCosts;
  /** of the exact test of the start */
  readonly startFindings: StateFindings;
  /** distance up to which contacts are listed, the caller's unit; undefined = not requested */
  readonly contactDistance: number | undefined;
  /** whether the report lists every vertex */
  readonly isPerVertex: boolean;
  /** whether the answer contains its path, and its reasons */
  readonly wantsPath: boolean;
  readonly wantsReasons: boolean;
}

/**
 * Checks the input of a step and maps it to the engine's coordinates.
 *
 * @param scenes the lane's scenes; undefined for the transient scene of a resolve
 * @throws the refusals of target, parameters and start; DEADLINE_EXCEEDED, CANCELLED
 */
export async function prepareStep(
  task: Pick<StepTask, 'start' | 'target' | 'parameters' | 'include'>,
  scene: ResidentScene,
  job: JobRun,
  scenes?: ResidentScenes,
): Promise<PreparedStep> {
  const { target, include } = task;
  const { mesh } = scene.held;
  const isOwn = task.start === undefined || isSameState(task.start, scene.state.positions);
  const start = isOwn ? scene.state.positions : task.start!;
  const { box, bounds } = isOwn ? scene.measureStart() : measureForeign(start, mesh);
  const { vertexCount } = mesh;
  const { fitted } = scene;
  const checked = checkTarget(
    target,
    vertexCount,
    fitted && scenes && { frame: fitted.frame, image: scenes.acquireImage(3 * vertexCount, job) },
  );
  checkRange(start, target, 'target', { boxes: { start: box, target: checked.box } });
  const { measures } = scene;
  const { parameters, warnings, smallestDelta, rules } = settleParameters(task.parameters, mesh, measures, job);
  const contactDistance = contactDistanceOf(include, parameters.activationDistance);
  const targetBounds = findBounds(mesh, target, checked.box);
  const extent = { start: bounds, target: targetBounds, findResting: () => findResting(mesh, start, target) };
  const chosen = frameFor(fitted, start, measures.medianEdge, extent, smallestDelta, scalarOf(target));
  const { frame } = chosen;
  const startEngine = isOwn ? scene.startUnder(frame) : frame.toEngine(start, 'start');
  const images = { start, startEngine, target, targetEngine: checked.imageUnder(frame) };
  job.uploadMicroseconds = job.stopwatch.lap();
  job.checkpoint('before the start was checked');
  // A session has a safe state to return. A resolve has none before the start is checked, so it ends here if it is late.
  if (!scenes) job.deadline.refuseIfOver('before the start was checked');

  job.context.onPhase?.('START_CHECK');
  const checkedStart = await checkSceneStart({ scene, isOwn, images, chosen, parameters, rules, job });
  job.lapChecks();
  job.checkpoint('while the start was checked');
  return {
    mesh,
    measures,
    parameters,
    parameterWarnings: [...warnings, ...warnOfForeignParts(mesh, parameters), ...warnOfInclude(include)],
    chosen,
    images,
    rules: checkedStart.rules,
    memory: scene.memory,
    costs: scene.costs,
    startFindings: checkedStart.startFindings,
    contactDistance,
    isPerVertex: include?.vertices ?? false,
    wantsPath: include?.path ?? false,
    wantsReasons: include?.reasons ?? false,
  };
}

/** @throws the refusals of the parameters */
export function settleParameters(
  requested: ParametersInput,
  mesh: CollisionMesh,
  measures: MeshMeasures,
  job: JobRun,
): SettledParameters {
  const { parameters, warnings } = resolveParameters(requested, measures, job.context);
  const partWarnings = checkPartDistances(mesh, parameters, measures);
  checkPartOffsets(mesh, parameters, job.context.engine);
  checkStrainLimits(mesh, parameters, job.context.engine);
  const length = frameLength(measures.medianEdge, measures.bounds);
  checkRestLengths(mesh.restLengths, length);
  checkRestShapes(mesh.strain, length);
  const { activationDistance, kinematicPairs } = parameters;
  // Until these checks end, no state is known to be safe: if the budget ends before, there is nothing to return.
  const checkpoint = job.during('while the start was checked');
  return {
    parameters,
    warnings: [...warnings, ...partWarnings],
    smallestDelta: rangeOfDistances(mesh, activationDistance).smallest,
    rules: { kinematicPairs, maxPairs: NAMED_PAIRS, countsKinematic: false, checkpoint },
  };
}

/** Contacts are listed up to 2 δ by default: pairs that touch, and pairs that are about to. */
const CONTACT_DISTANCE_PER_DELTA = 2;

/** @param delta δ, the caller's unit @throws INVALID_PARAMETER */
function contactDistanceOf(include: IncludeInput | undefined, delta: number): number | undefined {
  const distance = include?.contactDistance ?? CONTACT_DISTANCE_PER_DELTA * delta;
  if (distance > 0 && distance < Infinity) return include?.contacts ? distance : undefined;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `The parameter include.contactDistance is ${distance}; it must be greater than 0 and finite.`,
  );
}

function warnOfInclude(include: IncludeInput | undefined): Warning[] {
  if (include?.contactDistance === undefined || include.contacts) return [];
  const message = 'include.contactDistance has no effect, because include.contacts is not true.';
  return [{ code: 'PARAMETER_WITHOUT_EFFECT', message, count: 1 }];
}

/** Measures a start that the session does not hold. @throws like checkPositions */
function measureForeign(start: Positions, mesh: CollisionMesh): StartMeasures {
  const box = checkPositions(start, mesh.vertexCount, 'start');
  return { box, bounds: findBounds(mesh, start, box) };
}

interface StartToCheck {
  readonly scene: ResidentScene;
  /** the start is the state that the scene holds */
  readonly isOwn: boolean;
  readonly images: Omit<StateToMap, 'engine'>;
  readonly chosen: ChosenFrame;
  readonly parameters: Parameters;
  readonly rules: ListedPairRules;
  readonly job: JobRun;
}

/**
 * The checks of a start (docs/method.md, S9), without those whose result is known.
 *
 * Intersections: the same exact test has passed the held state, in these very numbers, before it was sent. The test depends
 * on the mesh and on the rule for kinematic pairs; if either has changed since, or the answer was sent unverified, the test
 * runs now.
 *
 * Touching (PATH): an answer under PATH ended a piece of path that was free, its end included.
 *
 * Rounding: if the image of the start is, bit for bit, the state with which the engine ended (or one that has passed this
 * check), under a rule for kinematic pairs and a mesh that left out no pair that counts now, the engine continues from a
 * state of its own, whose pairs it knows to be disjoint. What remains is the piece
 * between the answer as it was sent and that state. Sending rounds a coordinate by half an ulp of the answer or, for a
 * vertex that arrived and got the bits of its target, by half an ulp of float32 in engine units; two vertices of a pair
 * approach by at most √3 times that. This is less than half of the floor with which the answer was computed
 * (solver/range.ts), and an engine never lets a pair that was farther apart come closer than half of the floor. A pair that
 * began below half of the floor passed this check when it was sent, and comes no closer.
 *
 * Narrowing depends on the scalar of this step's target, so it is always checked.
 *
 * Excluded pairs (IGNORE_PAIRS): the test of an answer lists those that still intersect, so the list of this step follows
 * from it; the other two checks skip them. A pair that is included again is farther apart than the floor in all its
 * proximity pairs, like a pair that was never excluded: neither check can find anything new about it.
 *
 * @returns the findings of the test of the start, now or earlier, and the rules of this step
 * @throws INTERSECTING_START, TOLERANCE_TOO_SMALL
 */
export async function checkSceneStart(
  toCheck: StartToCheck,
): Promise<{ readonly startFindings: StateFindings; readonly rules: ListedPairRules }> {
  const { scene, isOwn, images, chosen, parameters, rules: startRules, job } = toCheck;
  const { mesh } = scene.held;
  const { verifier } = job.context;
  const { engine, kinematicPairs, verified } = scene.state;
  const { frame, range } = chosen;
  const known = isOwn && verified?.kinematicPairs === startRules.kinematicPairs ? verified : undefined;
  const policy = parameters.onIntersectingStart;
  const findings =
    known?.findings ?? (await checkStart(mesh, images.start, startRules, verifier, policy, scene.memory));
  const { excludedPairs = [] } = findings;
  if (policy === 'REJECT') refuseIntersecting(excludedPairs.length, excludedPairs.slice(0, NAMED_PAIRS));
  if (!known) {
    const milliseconds = job.lapChecks() / 1000;
    if (scene.memory.wasWhole) scene.costs.noteCheck(milliseconds);
  }
  job.deadline.keepBack(scene.costs.answerFor(shareOfMovable(mesh, images), scene.memory.expectsLittle));
  // Under REJECT every pair that no longer intersects is included again, however close it still is. The engine does not know
  // such a pair to be disjoint.
  const areIncludedAgain = policy === 'REJECT' && scene.state.excluded !== undefined;
  const rules = pairRulesFrom({
    mesh,
    start: images.start,
    parameters,
    rules: startRules,
    verifier,
    findings,
    earlier: isOwn ? scene.state.excluded : undefined,
    floor: range.floor / frame.scale,
    isTouchingKnown: known?.level === 'PATH' && !areIncludedAgain,
  });
  const isEnginesOwn =
    isOwn &&
    !areIncludedAgain &&
    (kinematicPairs === 'PROTECT' || kinematicPairs === startRules.kinematicPairs) &&
    engine !== undefined &&
    scene.fitted?.frame === frame &&
    (engine === images.startEngine || isEqual(engine, images.startEngine));
  if (!isEnginesOwn) checkEngineRounding(mesh, frame, images, rules, verifier);
  checkNarrowing(mesh, frame, images, rules, verifier);
  return { startFindings: findings, rules };
}

/**
 * Share of the vertices that a step may move: dynamic ones, because contacts push, and kinematic ones with a motion.
 */
function shareOfMovable({ kinematic }: CollisionMesh, { start, target }: StartToCheck['images']): number {
  let movable = 0;
  for (let v = 0, k = 0; v < kinematic.length; v++, k += 3) {
    const rests = start[k] === target[k] && start[k + 1] === target[k + 1] && start[k + 2] === target[k + 2];
    if (kinematic[v] === 0 || !rests) movable++;
  }
  return movable / Math.max(1, kinematic.length);
}

/** Compares bit for bit; the same numbers in another scalar are another state. */
function isSameState(a: Positions, b: Positions): boolean {
  return a === b || (scalarOf(a) === scalarOf(b) && viewBytes(a).equals(viewBytes(b)));
}

function viewBytes({ buffer, byteOffset, byteLength }: Positions): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
