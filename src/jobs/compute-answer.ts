import type { StateListener } from '../contract/call-context.js';
import { cancelled, draining } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Timings } from '../contract/report.js';
import type { ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import { algorithmVersion } from '../paths.js';
import type { EnginePositions, Resolution, StepInput } from '../solver/engine.js';
import type { VerifierMemory } from '../verify/memory.js';
import type { StateFindings } from '../verify/types.js';
import { describeBudget, sumOf, warnOfBudget } from './budget-report.js';
import { deadlineExceeded, unlessOver } from './deadline.js';
import type { JobRun } from './job-run.js';
import { withMultipliers } from './multipliers.js';
import { PathRecord } from './path-record.js';
import type { PreparedStep } from './prepare-step.js';
import { explain, reachOfReasons } from './reasons.js';
import { buildReport, measureMinDistance, progressUnknown } from './report.js';
import { type ChosenAnswer, chooseAnswer, pathScopeOf, StateTrail } from './state-trail.js';
import type { StepCosts } from './step-costs.js';
import { engineTargetOf, warnOfEarlierState } from './target.js';
import type { Verifier } from './verifier.js';

/** The differences between a resolve and a step of a session. */
interface StepHost {
  /** runs the engine */
  run(input: StepInput): Promise<Resolution>;
  /** the step as a complete request with its own copy of the positions, to reproduce a finding */
  toRequest(): ResolveRequest;
  /** whether the engine's scene outlives the request, and with it the pairs that a search has found */
  readonly keepsSearch?: boolean;
  /** whether the scene was lost and rebuilt; called after the engine has run */
  isRebuilt?(): boolean;
}

interface ComputedAnswer {
  readonly answer: ResolveAnswer;
  /** the answer in the engine's coordinates, under the frame of the step */
  readonly engine: EnginePositions;
  /** result of the exact test of the answer; undefined = not tested */
  readonly findings: StateFindings | undefined;
}

/**
 * From a checked start to the answer: runs the engine, follows its path, verifies the result and reports. The answer is safe
 * whatever the engine does: it contains only positions that the verifier has passed, in exactly the numbers that are sent
 * (docs/method.md, S9), unless the request says to skip the verification.
 *
 * @throws CANCELLED, DEADLINE_EXCEEDED, and whatever the engine throws
 */
export async function computeAnswer(prepared: PreparedStep, job: JobRun, host: StepHost): Promise<ComputedAnswer> {
  const { limits, memory } = job.context;
  const { start, target } = prepared.images;
  if (!prepared.wantsPath) return compute(prepared, job, host, undefined);
  const path = new PathRecord({ start, target, maxBytes: limits.maxMessageBytes, memory });
  try {
    return await compute(prepared, job, host, path);
  } finally {
    path.free();
  }
}

async function compute(
  prepared: PreparedStep,
  job: JobRun,
  host: StepHost,
  path: PathRecord | undefined,
): Promise<ComputedAnswer> {
  const { context, deadline, stopwatch } = job;
  const rules = {
    ...prepared.rules,
    checkpoint: job.duringGrace('while the answer was verified'),
    hasTimeToPrepare: () => deadline.hasTimeToPrepare(),
  };
  const step: PreparedStep = { ...prepared, rules };
  const { mesh, parameters, images, contactDistance, costs } = step;
  const { verifier, now, engine } = context;
  const onState = bothOf(context.onState, path?.add);
  const scope = pathScopeOf(mesh, parameters.verify);
  const trail = new StateTrail(step, verifier, scope, onState);
  // A device that reports every state takes one step at a time, with a pause after each. It does so only if something needs
  // the states. Otherwise the start is the only state to fall back to, which suffices after a finding, a fault of the service.
  const isListening = scope !== undefined || onState !== undefined || engine.hasCheapStates === true;
  const target = engineTargetOf(mesh, step.chosen.range, images);
  const opening = stopwatch.lap();
  let pieces = 0;
  context.onPhase?.('SOLVING');
  const engineResolution = await runUnlessCancelled(job, host, {
    x: images.startEngine,
    y: target.positions,
    ...(rules.excluded ? { excluded: rules.excluded } : {}),
    shouldStop: () =>
      context.isCancelled() || job.isEnding || trail.problem !== undefined || trail.wasStopped || deadline.isDue(),
    timeLeft: () => (context.isCancelled() || job.isEnding ? 0 : deadline.timeLeft()),
    searchTimeLeft: () => {
      if (context.isCancelled() || job.isEnding) return 0;
      return deadline.searchTimeLeft(host.keepsSearch === true && isListening && trail.statesAccepted === 0);
    },
    ...(context.onProgress ? { onProgress: context.onProgress } : {}),
    ...(step.wantsReasons || contactDistance !== undefined ? { recordsHolds: true } : {}),
    ...(isListening
      ? {
          onState: (x, from) => {
            const before = now();
            trail.accept(x, from);
            pieces += (now() - before) * 1000;
          },
        }
      : {}),
  });
  const resolution = target.restate(engineResolution, parameters.residualTolerance);
  const inEngine = stopwatch.lap();
  job.checkpoint('in the engine');
  if (job.times.onBudget === 'FAIL' && resolution.status === 'DEADLINE' && trail.problem === undefined) {
    throw job.isEnding ? draining() : deadlineExceeded('in the engine');
  }

  context.onPhase?.('ANSWER_CHECK');
  trail.finish(resolution.positions, resolution.steps);
  const chosen = await chooseAnswer(step, trail, verifier);
  if (chosen.problem) {
    context.onFinding({
      ...chosen.problem,
      request: host.toRequest(),
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
    ? await unlessOver(() => ({ minDistance: measureMinDistance(step, positions, verifier) }))
    : undefined;
  const distances = stopwatch.lap();
  const holding = step.wantsReasons ? await listContacts(step, positions, verifier, reachOfReasons(step)) : undefined;
  const contacts =
    contactDistance === undefined ? undefined : await listContacts(step, positions, verifier, contactDistance);
  const listing = stopwatch.lap();
  job.checkpoint('while the answer was verified');

  const isLast = trail.isLast(chosen.state);
  const { holds, ...figures } = resolutionOf(chosen, resolution, images.target);
  // What held and pushed the vertices in later states does not in an earlier one.
  const told: Resolution = isLast && holds ? { ...figures, holds } : figures;
  const timings: Timings = { ...job.openingTimings(), ...resolution.timings };
  timings.verify += opening + pieces + check + distances + listing;
  const { report, vertices } = buildReport(step, {
    answer: positions,
    minDistance: measured?.minDistance,
    resolution: told,
    verification: chosen.verification,
    findings: chosen.findings,
    warnings: [
      ...target.warnings(parameters),
      ...(chosen.isCutBack ? [warnOfEarlierState(parameters, images.target)] : []),
      ...warnOfBudget(job, resolution, {
        isCutShort: chosen.isCutShort,
        isMeasured: measured !== undefined,
        keepsSearch: host.keepsSearch === true,
        lacksContacts: contactDistance !== undefined && contacts === undefined,
        lacksReasons: step.wantsReasons && holding === undefined,
      }),
    ],
    timings,
    budget: describeBudget(job, costs),
    engine: engine.description.name,
    isRebuilt: host.isRebuilt?.() ?? false,
  });
  const isCut = (v: number) => target.isCut(v);
  const explained = { answer: positions, resolution: told, lastStep: isLast ? trail.lastStep : 0, isCut };
  const reasons = holding && explain(step, { ...explained, contacts: holding });
  job.checkpoint('while the answer was verified');
  // Mapping back counts as "verify", piece by piece. What remains is measuring the answer for the report, and the engine's
  // work besides its stages: transfers, counting, waiting for its device.
  const finish = stopwatch.lap();
  timings.readback = Math.max(0, inEngine - pieces - sumOf(resolution.timings)) + finish;
  timings.total = job.sinceReceived();
  const { search, geometry, backward, forward } = resolution.timings;
  costs.noteRun(resolution.searches, search / 1000, resolution.steps, (geometry + backward + forward + pieces) / 1000);
  if (chosen.wasTested) noteCheck(costs, step.memory, check / 1000, chosen.isCutShort);
  if (measured) costs.noteDistances(distances / 1000);
  costs.noteFinish(finish / 1000);
  const hadPairs = resolution.proximitySetReused || resolution.searches > 0;
  if (resolution.status === 'DEADLINE' && resolution.steps === 0 && (hadPairs || deadline.hadNoRoom)) costs.relax();
  return {
    answer: {
      positions,
      report,
      ...(contacts ? { contacts: withMultipliers(contacts, told.holds, step.chosen.frame) } : {}),
      ...(reasons ? { reasons } : {}),
      ...(vertices ? { vertices } : {}),
      ...(path ? { path: path.finish() } : {}),
    },
    engine: chosen.state.engine,
    findings: chosen.findings,
  };
}

/** @param check of the answer, ms */
function noteCheck(costs: StepCosts, memory: VerifierMemory, check: number, isCutShort: boolean): void {
  if (isCutShort) {
    costs.noteCheckCutShort(check);
    // The test was expected to be quick but was not, so the next one is not expected to be quick either.
    memory.noteTest(true, undefined);
  } else if (memory.wasWhole) costs.noteCheck(check);
  else costs.noteLightCheck(check);
}

/**
 * If the answer is an earlier state than the engine's last, the engine's status, residuals and limiting pairs do not
 * describe it. One that is cut short is the start.
 */
function resolutionOf(
  { state, isCutShort, isCutBack }: ChosenAnswer,
  resolution: Resolution,
  target: Positions,
): Resolution {
  if (!isCutShort && !isCutBack) return resolution;
  return {
    ...resolution,
    status: isCutShort ? 'DEADLINE' : 'STALLED',
    ...progressUnknown(state.positions, target),
    limitingPairs: [],
    ...(isCutShort && resolution.impulses ? { impulses: { ...resolution.impulses, motionShare: 0 } } : {}),
  };
}

/** The contacts of an answer; undefined = the time budget does not allow it. */
function listContacts({ mesh, rules }: PreparedStep, answer: Positions, verifier: Verifier, closerThan: number) {
  return unlessOver(() => verifier.findContacts(mesh, answer, rules, closerThan));
}

function bothOf(one: StateListener | undefined, other: StateListener | undefined): StateListener | undefined {
  if (!one || !other) return one ?? other;
  return (...state) => {
    one(...state);
    other(...state);
  };
}

async function runUnlessCancelled(job: JobRun, host: StepHost, input: StepInput): Promise<Resolution> {
  try {
    return await host.run(input);
  } catch (thrown) {
    // An engine that is told to stop may throw; the reason is then that the caller cancelled.
    if (job.context.isCancelled()) throw cancelled({ cause: thrown });
    throw thrown;
  }
}
