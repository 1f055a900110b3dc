import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { StageTimings, Timings } from '../contract/report.js';
import type { ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import { algorithmVersion } from '../paths.js';
import type { CoordinateFrame, StateToMap } from '../solver/frame.js';
import type { Range } from '../solver/range.js';
import type { EnginePositions, Resolution, StepInput } from '../solver/types.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import { type ChosenAnswer, chooseAnswer } from './answer.js';
import { deadlineExceeded, unlessOver } from './deadline.js';
import { goalOf, leftRange } from './goal.js';
import { cancelled, type JobRun } from './job-run.js';
import { buildReport, measureMinDistance, progressUnknown } from './report.js';
import { StateTrail } from './state-trail.js';

/** Everything that is known once the start has passed its checks. */
export interface Prepared {
  /** What is computed, as a request that stands for itself, its positions its own: for the reproduction of a finding. */
  readonly reproduce: () => ResolveRequest;
  readonly include: ResolveRequest['include'];
  readonly mesh: CollisionMesh;
  readonly measures: MeshMeasures;
  readonly parameters: Parameters;
  readonly parameterWarnings: readonly Warning[];
  readonly contactDistance: number | undefined;
  readonly rules: PairRules;
  readonly frame: CoordinateFrame;
  readonly range: Range;
  readonly images: Omit<StateToMap, 'engine'>;
  /** of the exact test of the start */
  readonly startFindings: StateFindings;
  /** a session's scene had been lost and was built again; asked at the end */
  readonly isRebuilt?: () => boolean;
}

export interface Computed {
  readonly answer: ResolveAnswer;
  /** the answer as the engine had it, under the frame of the request */
  readonly engine: EnginePositions;
  /** of the exact test of the answer; undefined = not tested */
  readonly findings: StateFindings | undefined;
  /** ms that the test of the answer took; undefined = there was nothing to test */
  readonly checkMs: number | undefined;
  /** the budget ended that test, which would have taken longer */
  readonly isCutShort: boolean;
}

/**
 * From a checked start to the answer: runs the engine, follows its path, verifies what it gives and reports. Safe whatever
 * the engine does: nothing is returned that the verifier, on the very numbers returned, has not passed (unless it was
 * told not to look).
 *
 * @throws CANCELLED, DEADLINE_EXCEEDED, and whatever the engine throws
 */
export async function computeAnswer(
  prepared: Prepared,
  job: JobRun,
  run: (step: StepInput) => Promise<Resolution>,
): Promise<Computed> {
  const { mesh, parameters, frame, range, images } = prepared;
  const { context, deadline, stopwatch } = job;
  const rules: PairRules = { ...prepared.rules, checkpoint: job.during('while the answer was verified') };
  const { verifier, now, engine } = context;
  const scope = scopeOf(mesh, parameters);
  const trail = new StateTrail({ mesh, frame, images, rules, verifier, scope, onState: context.onState });
  // A device that has to show every state takes one step at a time, with a pause after each. It is asked to only where
  // somebody needs the states; otherwise there is nothing but the start to fall back to, which a finding (a fault of the
  // service) has to make do with.
  const isListening = scope !== undefined || context.onState !== undefined || engine.hasCheapStates === true;
  const goal = goalOf(mesh, range, images);
  const opening = stopwatch.lap();
  let pieces = 0;
  const ran = await runUnlessCancelled(job, run, {
    x: images.startEngine,
    y: goal.target,
    ...(rules.excluded ? { excluded: rules.excluded } : {}),
    shouldStop: () => context.isCancelled() || trail.problem !== undefined || trail.wasStopped || deadline.isDue(),
    timeLeft: () => (context.isCancelled() ? 0 : deadline.timeLeft()),
    ...(context.onProgress ? { onProgress: context.onProgress } : {}),
    ...(isListening
      ? {
          onState: (x) => {
            const before = now();
            trail.accept(x);
            pieces += (now() - before) * 1000;
          },
        }
      : {}),
  });
  const resolution = goal.restate(ran, parameters.residualTolerance);
  const inEngine = stopwatch.lap();
  job.checkpoint('in the engine');
  if (job.times.onBudget === 'FAIL' && resolution.status === 'DEADLINE' && trail.problem === undefined) {
    throw deadlineExceeded('in the engine');
  }

  trail.finish(resolution.positions);
  const { start } = images;
  const chosen = await chooseAnswer({
    mesh,
    start,
    startFindings: prepared.startFindings,
    trail,
    range,
    parameters,
    rules,
    verifier,
  });
  if (chosen.problem) {
    context.onFinding({
      ...chosen.problem,
      request: prepared.reproduce(),
      resolved: parameters,
      ...(rules.excluded ? { excluded: rules.excluded.items } : {}),
      engine: engine.description.name,
      version: algorithmVersion,
    });
  }
  const { positions } = chosen.state;
  trail.endAt(chosen.state);
  const check = stopwatch.lap();
  job.checkpoint('while the answer was verified');
  const measured = deadline.hasTimeForDistances()
    ? await unlessOver(() => ({
        minDistance: measureMinDistance({ mesh, parameters, rules, verifier, answer: positions }),
      }))
    : undefined;
  const { contactDistance } = prepared;
  const contacts =
    contactDistance === undefined
      ? undefined
      : await unlessOver(() => verifier.findContacts(mesh, positions, rules, contactDistance));
  job.checkpoint('while the answer was verified');

  const timings: Timings = { ...job.openingTimings(), ...resolution.timings };
  timings.verify += opening + pieces + check + stopwatch.lap();
  const { report, vertices } = buildReport({
    mesh,
    measures: prepared.measures,
    parameters,
    parameterWarnings: prepared.parameterWarnings,
    runWarnings: [
      ...goal.warnings(parameters),
      ...(chosen.isCutBack ? [leftRange(parameters, images.target)] : []),
      ...warningsOfBudget(job, resolution, {
        isCutShort: chosen.isCutShort,
        isMeasured: measured !== undefined,
        lacksContacts: contactDistance !== undefined && contacts === undefined,
      }),
    ],
    scale: frame.scale,
    target: images.target,
    answer: positions,
    minDistance: measured?.minDistance,
    excluded: rules.excluded,
    resolution: reached(resolution, chosen, images.target),
    verification: chosen.verification,
    timings,
    engine: engine.description.name,
    isPerVertex: prepared.include?.vertices ?? false,
    isRebuilt: prepared.isRebuilt?.() ?? false,
  });
  job.checkpoint('while the answer was verified');
  // Mapping back is within "verify", piece by piece; what remains is measuring the answer for the report, and what the
  // engine did besides its stages: handing over, counting, waiting for its device.
  timings.readback = Math.max(0, inEngine - pieces - sumOf(resolution.timings)) + stopwatch.lap();
  timings.total = job.sinceReceived();
  return {
    answer: {
      positions,
      report,
      ...(contacts ? { contacts } : {}),
      ...(vertices ? { vertices } : {}),
    },
    engine: chosen.state.engine,
    findings: chosen.findings,
    checkMs: chosen.wasTested ? check / 1000 : undefined,
    isCutShort: chosen.isCutShort,
  };
}

/** Of an answer that is an earlier state than the engine's last: what the engine said of its own is not of this one. */
function reached(
  resolution: Resolution,
  { state, isCutShort, isCutBack }: ChosenAnswer,
  target: Positions,
): Resolution {
  if (!isCutShort && !isCutBack) return resolution;
  return {
    ...resolution,
    status: isCutShort ? 'DEADLINE' : 'STALLED',
    ...progressUnknown(state.positions, target),
  };
}

/** Where a budget was too small for what was asked: what took it, and what was excluded for it. */
function warningsOfBudget(
  job: JobRun,
  { status, steps, timings }: Resolution,
  left: { readonly isCutShort: boolean; readonly isMeasured: boolean; readonly lacksContacts: boolean },
): Warning[] {
  const warnings: Warning[] = [];
  const { timeBudgetSeconds } = job.times;
  if (left.isCutShort) {
    warnings.push({
      code: 'BUDGET_SPENT_ON_CHECKS',
      message:
        `the time budget of ${timeBudgetSeconds} s ended while the outcome of ${steps} ${steps === 1 ? 'step' : 'steps'} was tested: ` +
        'the start, which is known to be safe, is the answer',
      count: 1,
    });
  } else if (status === 'DEADLINE' && steps === 0) {
    const { queue, decode, upload, verify } = job.openingTimings();
    const seconds = (microseconds: number) => `${(microseconds / 1e6).toFixed(3)} s`;
    warnings.push({
      code: 'BUDGET_SPENT_ON_CHECKS',
      message:
        `no step was made in the time budget of ${timeBudgetSeconds} s: ${seconds(queue + decode)} passed before the work began, ` +
        `${seconds(upload)} went into the mesh and its numbers, ${seconds(verify)} into the checks of the start, ` +
        `${seconds(sumOf(timings))} into a step that could not be ended; ` +
        'the test of an answer takes as long again',
      count: 1,
    });
  }
  if (left.lacksContacts) {
    warnings.push({
      code: 'CONTACTS_NOT_MEASURED',
      message: `contacts were excluded: finding them would have ended after the time budget of ${timeBudgetSeconds} s`,
      count: 1,
    });
  }
  if (!left.isMeasured) {
    warnings.push({
      code: 'MIN_DISTANCE_NOT_MEASURED',
      message: `min_distance was excluded: measuring it would have ended after the time budget of ${timeBudgetSeconds} s`,
      count: 1,
    });
  }
  return warnings;
}

function sumOf({ search, geometry, backward, forward }: StageTimings): number {
  return search + geometry + backward + forward;
}

/**
 * Which pairs are tested on every piece of the path. An edge-triangle test has nothing to pierce where only rods and
 * particles meet, so a state of theirs says nothing of how they came there: their pieces are tested at STATE already.
 */
function scopeOf(mesh: CollisionMesh, { verify }: Parameters): 'all' | 'codimensional' | undefined {
  if (verify === 'PATH') return 'all';
  const isCodimensional = mesh.edges.length / 2 > mesh.rodStart || mesh.particles.length > 0;
  return verify === 'STATE' && isCodimensional ? 'codimensional' : undefined;
}

async function runUnlessCancelled(
  job: JobRun,
  run: (step: StepInput) => Promise<Resolution>,
  step: StepInput,
): Promise<Resolution> {
  try {
    return await run(step);
  } catch (thrown) {
    // An engine that was told to stop may say so by throwing; the caller's going away is the reason then.
    if (job.context.isCancelled()) throw cancelled(thrown);
    throw thrown;
  }
}
