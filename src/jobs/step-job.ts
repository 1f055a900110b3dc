import type { MeshInput, Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { ResolveRequest } from '../contract/requests.js';
import { findBounds } from '../mesh/measure.js';
import { checkPositions, checkRange } from '../mesh/positions.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { StateToMap } from '../solver/frame.js';
import { resolveParameters } from '../solver/parameters.js';
import { checkPartDistances, rangeOfDistances } from '../solver/part-distances.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import { computeAnswer } from './compute-answer.js';
import { settleRules } from './excluded.js';
import { contactDistanceOf, scalarOf } from './include.js';
import { type JobContext, JobRun } from './job-run.js';
import type { ResidentScene, StartMeasures } from './resident-scene.js';
import type { ResidentScenes } from './resident-scenes.js';
import { type ChosenFrame, frameFor } from './scene-frame.js';
import type { StepMessage, StepOutcome } from './scene-tasks.js';
import { checkEngineRounding, checkNarrowing, checkStart, refuseIntersecting } from './start-check.js';
import { isEqual } from './state-trail.js';
import { checkTarget } from './step-target.js';
import { NAMED_PAIRS } from './verifier.js';

/**
 * One step of a session on its resident scene. The scene takes the answer over only at the very end; a step that fails
 * after the engine has run closes the engine's scene, so that nothing of it is left but one more search.
 *
 * @throws as a resolve; what a lost scene is built from is checked again
 */
export async function stepJob(task: StepMessage, scenes: ResidentScenes, context: JobContext): Promise<StepOutcome> {
  const { target, include } = task;
  const job = new JobRun(task, context);
  const scene = scenes.bring(task.state, task.measures, context.limits);
  const { mesh, input } = scene.held;
  const { measures } = scene;
  const isOwn = task.start === undefined || isSameState(task.start, scene.state.positions);
  const start = isOwn ? scene.state.positions : task.start!;
  const { box, bounds } = isOwn ? scene.measureStart() : measureForeign(start, mesh);
  const checked = checkTarget(target, mesh.vertexCount, scene.fitted?.frame, scenes);
  checkRange(start, target, 'target', { start: box, target: checked.box });
  const { parameters, warnings } = resolveParameters(task.parameters, measures, context);
  const partWarnings = checkPartDistances(mesh, parameters, measures);
  const { activationDistance, kinematicPairs } = parameters;
  const { smallest: delta } = rangeOfDistances(mesh, activationDistance);
  const contactDistance = contactDistanceOf(include, activationDistance);
  const checkpoint = job.during('while the start was checked');
  const pairRules: PairRules = { kinematicPairs, maxPairs: NAMED_PAIRS, checkpoint };
  const goal = findBounds(mesh, target, checked.box);
  const chosen = frameFor(scene.fitted, start, measures.medianEdge, bounds, goal, delta, scalarOf(target));
  const { frame, range } = chosen;
  const startEngine = isOwn ? scene.startUnder(frame) : frame.toEngine(start, 'start');
  const targetEngine = checked.imageUnder(frame);
  const images = { start, startEngine, target, targetEngine };
  job.uploadMicroseconds = job.stopwatch.lap();
  job.checkpoint('before the start was checked');

  const { rules, startFindings } = await checkWhatIsNew({
    scene,
    isOwn,
    images,
    chosen,
    parameters,
    rules: pairRules,
    job,
  });
  job.lapChecks();
  job.checkpoint('while the start was checked');

  let hasRun = false;
  try {
    const { answer, engine, findings, checkMs, isCutShort } = await computeAnswer(
      {
        reproduce: () => requestOf(task, input, start),
        include,
        mesh,
        measures,
        parameters,
        parameterWarnings: [...warnings, ...partWarnings],
        contactDistance,
        rules,
        frame,
        range,
        images,
        startFindings,
        isRebuilt: () => task.wasLost || scene.hasLostDevice,
      },
      job,
      (step) => {
        hasRun = true;
        return scene.resolve(context.engine, { mesh, parameters, chosen }, step);
      },
    );
    const verified = findings && { level: parameters.verify, kinematicPairs, findings };
    const { excluded } = rules;
    scene.commit({ version: task.nextVersion, positions: answer.positions, engine, verified, excluded }, chosen);
    // Of a test that the budget ended only the least is known.
    if (checkMs !== undefined) scene.checkMs = isCutShort ? Math.max(scene.checkMs, checkMs) : checkMs;
    return { ...answer, residentBytes: scene.bytes };
  } catch (thrown) {
    if (hasRun) scene.discard();
    throw thrown;
  }
}

/** Of a start that the session does not hold. @throws as checkPositions */
function measureForeign(start: Positions, mesh: CollisionMesh): StartMeasures {
  const box = checkPositions(start, mesh.vertexCount, 'start');
  return { box, bounds: findBounds(mesh, start, box) };
}

/**
 * The step as a resolve: what would have to be sent to see the same again. Start and target are copied: both lie in memory
 * that later steps of the lane write into, and a finding is read after them.
 */
function requestOf(task: StepMessage, mesh: MeshInput, start: Positions): ResolveRequest {
  const { target, parameters, include, timeBudgetSeconds, onBudget } = task;
  return {
    mesh,
    start: start.slice(),
    target: target.slice(),
    parameters,
    ...(include ? { include } : {}),
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget ? { onBudget } : {}),
  };
}

interface StartToCheck {
  readonly scene: ResidentScene;
  /** the start is the state that the scene holds */
  readonly isOwn: boolean;
  readonly images: Omit<StateToMap, 'engine'>;
  readonly chosen: ChosenFrame;
  readonly parameters: Parameters;
  readonly rules: PairRules;
  readonly job: JobRun;
}

/**
 * The checks of a resolve, less those whose outcome is known.
 *
 * Intersections: the held state was tested when it was sent, on these very numbers, by the same exact test. The test
 * depends on the mesh and on the rule for kinematic pairs; where either has changed since, or the answer went out
 * unverified, it is made now.
 *
 * Touching (PATH): an answer at PATH ended a piece that was free of meetings, its end included.
 *
 * Rounding: where the start's image is, bit for bit, the state with which the engine ended (or one that has passed this
 * check), the engine goes on from a state of its own, whose pairs it knows to be apart. What remains is the piece between
 * the answer as it was sent and that state. Sending rounds a coordinate by half an ulp of the answer, or, for a vertex that
 * arrived and got its target's own bits, by half an ulp of float32 in engine units; two vertices of a pair approach by at
 * most √3 of these. That is less than half of the floor that the answer was computed with (solver/range.ts), and an engine
 * never lets a pair that was further apart come closer than half of it. A pair that began below half of the floor passed this check when it was sent, and comes no closer.
 *
 * Narrowing goes by the target of this very step, so it is asked anew.
 *
 * Pairs excluded (IGNORE_PAIRS): the test of an answer lists those of them that still intersect, so the list of this step
 * is known from it; the other two checks leave them out. A pair that is put back is further apart than the floor, in all
 * its proximity pairs, and so as good as one that was never excluded: neither check has anything new to say of it.
 *
 * @returns the findings of the test of the start, now or then, and the rules of this step
 * @throws INTERSECTING_START, TOLERANCE_TOO_SMALL
 */
async function checkWhatIsNew({
  scene,
  isOwn,
  images,
  chosen,
  parameters,
  rules: pairRules,
  job,
}: StartToCheck): Promise<{
  readonly startFindings: StateFindings;
  readonly rules: PairRules;
}> {
  const { mesh } = scene.held;
  const { verifier } = job.context;
  const { engine, verified } = scene.state;
  const known = isOwn && verified?.kinematicPairs === pairRules.kinematicPairs ? verified : undefined;
  const policy = parameters.onIntersectingStart;
  const findings = known?.findings ?? (await checkStart(mesh, images.start, pairRules, verifier, policy));
  const { excludedPairs = [] } = findings;
  if (policy === 'REJECT') refuseIntersecting(excludedPairs.length, excludedPairs.slice(0, NAMED_PAIRS));
  if (!known) scene.checkMs = job.lapChecks() / 1000;
  job.deadline.reserveAfter(scene.checkMs);
  // Under REJECT whatever does not intersect any more is put back, however close it still is: nobody vouches for it.
  const arePutBack = policy === 'REJECT' && scene.state.excluded !== undefined;
  const rules = settleRules({
    mesh,
    start: images.start,
    parameters,
    rules: pairRules,
    verifier,
    findings,
    earlier: isOwn ? scene.state.excluded : undefined,
    floor: chosen.range.floor / chosen.frame.scale,
    isTouchingKnown: known?.level === 'PATH' && !arePutBack,
  });
  const isOwnImage =
    isOwn &&
    !arePutBack &&
    engine !== undefined &&
    scene.fitted?.frame === chosen.frame &&
    (engine === images.startEngine || isEqual(engine, images.startEngine));
  if (!isOwnImage) checkEngineRounding(mesh, chosen.frame, images, rules, verifier);
  checkNarrowing(mesh, chosen.frame, images, rules, verifier);
  return { startFindings: findings, rules };
}

/** Bit for bit; another scalar is another state. */
function isSameState(a: Positions, b: Positions): boolean {
  return scalarOf(a) === scalarOf(b) && bytesOf(a).equals(bytesOf(b));
}

function bytesOf({ buffer, byteOffset, byteLength }: Positions): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
