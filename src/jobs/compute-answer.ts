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
import type { Problem } from './finding.js';
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
  /**
   * Runs the engine.
   *
   * @param beginAnew called before the same input is run once more: the states that were reported so far are void
   */
  run(input: StepInput, beginAnew: () => void): Promise<Resolution>;
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

/** What a stage hands on to the later ones. */
interface Stages {
  readonly run: EngineRun;
  readonly checked: CheckedAnswer;
  readonly listed: ListedPairs;
}

async function compute(
  prepared: PreparedStep,
  job: JobRun,
  host: StepHost,
  path: PathRecord | undefined,
): Promise<ComputedAnswer> {
  const step = withCheckpoints(prepared, job);
  const scope = pathScopeOf(step.mesh, step.parameters.verify);
  const onState = bothOf(job.context.onState, path?.add);
  const trail = new StateTrail(step, job.context.verifier, scope, onState);
  // A device that reports every state takes one step at a time, with a pause after each. It does so only if something needs
  // the states. Otherwise the start is the only state to fall back to, which suffices after a finding, a fault of the service.
  const isPathWanted = scope !== undefined || onState !== undefined;
  const isListening = isPathWanted || job.context.engine.hasCheapStates === true;
  const run = await runEngine(step, job, host, trail, { isListening, isPathWanted });
  const checked = await checkAnswer(step, job, host, trail, run.resolution);
  const listed = await listPairs(step, job, checked.chosen.state.positions);
  const described = describe(step, job, host, { run, checked, listed });
  noteCosts(step, job, { run, checked, listed }, described.finish);
  const { state, findings } = checked.chosen;
  const { contacts } = listed;
  const { told, report, vertices, reasons } = described;
  return {
    answer: {
      positions: state.positions,
      report,
      ...(contacts ? { contacts: withMultipliers(contacts, told.holds, step.chosen.frame) } : {}),
      ...(reasons ? { reasons } : {}),
      ...(vertices ? { vertices } : {}),
      ...(path ? { path: path.finish() } : {}),
    },
    engine: state.engine,
    findings,
  };
}

/** The step whose tests of the answer end when the caller has gone away, or the budget and its grace have ended. */
function withCheckpoints(prepared: PreparedStep, job: JobRun): PreparedStep {
  const rules = {
    ...prepared.rules,
    checkpoint: job.duringGrace('while the answer was verified'),
    hasTimeToPrepare: () => job.deadline.hasTimeToPrepare(),
  };
  return { ...prepared, rules };
}

interface EngineRun {
  /** restated for the target that the caller requested */
  readonly resolution: Resolution;
  readonly target: ReturnType<typeof engineTargetOf>;
  /** µs before the engine, in it, and of these in {@link StateTrail.accept} */
  readonly opening: number;
  readonly inEngine: number;
  readonly pieces: number;
}

/**
 * Runs the engine, and follows its path.
 *
 * @param wanted `isListening`: whether the trail gets states; `isPathWanted`: whether it gets those that are only passed, too
 * @throws CANCELLED; DEADLINE_EXCEEDED and DRAINING under FAIL
 */
async function runEngine(
  step: PreparedStep,
  job: JobRun,
  host: StepHost,
  trail: StateTrail,
  { isListening, isPathWanted }: { readonly isListening: boolean; readonly isPathWanted: boolean },
): Promise<EngineRun> {
  const { context, deadline, stopwatch } = job;
  const { mesh, parameters, images, rules, contactDistance } = step;
  const { now } = context;
  const target = engineTargetOf(mesh, step.chosen.range, images);
  const opening = stopwatch.lap();
  let pieces = 0;
  context.onPhase?.('SOLVING');
  const tellFault = () => {
    if (trail.problem) reportFault(step, job, host, trail.problem);
  };
  const beginAnew = () => {
    // The states that replace the present ones may have no fault.
    tellFault();
    trail.beginAnew();
  };
  const input: StepInput = {
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
          omitsPassed: !isPathWanted,
          onState: (x, from, isPassed) => {
            const before = now();
            trail.accept(x, from, isPassed);
            pieces += (now() - before) * 1000;
          },
        }
      : {}),
  };
  const engineResolution = await host.run(input, beginAnew).catch((thrown: unknown) => {
    tellFault();
    // An engine that is told to stop may throw; the reason is then that the caller cancelled.
    if (context.isCancelled()) throw cancelled({ cause: thrown });
    throw thrown;
  });
  const resolution = target.restate(engineResolution, parameters.residualTolerance);
  const inEngine = stopwatch.lap();
  job.checkpoint('in the engine');
  if (job.times.onBudget === 'FAIL' && resolution.status === 'DEADLINE' && trail.problem === undefined) {
    throw job.isEnding ? draining() : deadlineExceeded('in the engine');
  }
  return { resolution, target, opening, inEngine, pieces };
}

interface CheckedAnswer {
  readonly chosen: ChosenAnswer;
  /** whether the engine has ended in the chosen state */
  readonly isLast: boolean;
  /** the step that ended in the chosen state; 0 = not known */
  readonly lastStep: number;
  /** states that the engine reported up to the chosen one; 0 = it is the start */
  readonly states: number;
  /** µs */
  readonly check: number;
}

/** Chooses the answer among the states of the trail, by the exact test; reports a fault of the engine. */
async function checkAnswer(
  step: PreparedStep,
  job: JobRun,
  host: StepHost,
  trail: StateTrail,
  resolution: Resolution,
): Promise<CheckedAnswer> {
  const { context, stopwatch } = job;
  context.onPhase?.('ANSWER_CHECK');
  trail.finish(resolution.positions, resolution.steps);
  const chosen = await chooseAnswer(step, trail, context.verifier);
  if (chosen.problem) reportFault(step, job, host, chosen.problem);
  trail.endAt(chosen.state);
  const check = stopwatch.lap();
  job.checkpoint('while the answer was verified');
  const isLast = trail.isLast(chosen.state);
  const states = trail.isStart(chosen.state) ? 0 : chosen.state.at;
  return { chosen, isLast, lastStep: isLast ? trail.lastStep : 0, states, check };
}

/** Reports a fault in what the engine has produced. */
function reportFault({ parameters, rules }: PreparedStep, { context }: JobRun, host: StepHost, problem: Problem): void {
  context.onFinding({
    ...problem,
    request: host.toRequest(),
    resolved: parameters,
    ...(rules.excluded ? { excluded: rules.excluded.items } : {}),
    engine: context.engine.description.name,
    version: algorithmVersion,
  });
}

/** What the time budget has left room for. */
interface ListedPairs {
  /** undefined = there was no time; its distance is undefined = nothing is near */
  readonly measured: { readonly minDistance: number | undefined } | undefined;
  /** contacts that may hold vertices; undefined = not wanted, or there was no time */
  readonly holding: Awaited<ReturnType<typeof listContacts>>;
  /** contacts of the answer; undefined = not wanted, or there was no time */
  readonly contacts: Awaited<ReturnType<typeof listContacts>>;
  /** µs */
  readonly distances: number;
  readonly listing: number;
}

/** Finds the pairs that are near in the answer. @throws CANCELLED; DEADLINE_EXCEEDED under FAIL */
async function listPairs(step: PreparedStep, job: JobRun, positions: Positions): Promise<ListedPairs> {
  const { deadline, stopwatch } = job;
  const { verifier } = job.context;
  const { contactDistance } = step;
  const measured = deadline.hasTimeForDistances()
    ? await unlessOver(() => ({ minDistance: measureMinDistance(step, positions, verifier) }))
    : undefined;
  const distances = stopwatch.lap();
  const holding = step.wantsReasons ? await listContacts(step, positions, verifier, reachOfReasons(step)) : undefined;
  const contacts =
    contactDistance === undefined ? undefined : await listContacts(step, positions, verifier, contactDistance);
  const listing = stopwatch.lap();
  job.checkpoint('while the answer was verified');
  return { measured, holding, contacts, distances, listing };
}

/**
 * Reports on the answer.
 *
 * @returns also what the engine has reported, as far as it describes the answer, and the µs that all of this took
 * @throws CANCELLED; DEADLINE_EXCEEDED under FAIL
 */
function describe(step: PreparedStep, job: JobRun, host: StepHost, { run, checked, listed }: Stages) {
  const { parameters, images, contactDistance } = step;
  const { resolution, target } = run;
  const { chosen, isLast, lastStep } = checked;
  const { measured, holding, contacts } = listed;
  const { positions } = chosen.state;
  const { holds, ...figures } = resolutionOf(checked, resolution, images.target);
  // What held and pushed the vertices in later states does not in an earlier one.
  const told: Resolution = isLast && holds ? { ...figures, holds } : figures;
  const timings: Timings = { ...job.openingTimings(), ...resolution.timings };
  timings.verify += run.opening + run.pieces + checked.check + listed.distances + listed.listing;
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
        isEarlier: !isLast,
        isMeasured: measured !== undefined,
        keepsSearch: host.keepsSearch === true,
        lacksContacts: contactDistance !== undefined && contacts === undefined,
        lacksReasons: step.wantsReasons && holding === undefined,
      }),
    ],
    timings,
    budget: describeBudget(job, step.costs),
    engine: job.context.engine.description.name,
    isRebuilt: host.isRebuilt?.() ?? false,
  });
  const isCut = (v: number) => target.isCut(v);
  const reasons = holding && explain(step, { answer: positions, resolution: told, lastStep, isCut, contacts: holding });
  job.checkpoint('while the answer was verified');
  // Mapping back counts as "verify", piece by piece. What remains is measuring the answer for the report, and the engine's
  // work besides its stages: transfers, counting, waiting for its device.
  const finish = job.stopwatch.lap();
  timings.readback = Math.max(0, run.inEngine - run.pieces - sumOf(resolution.timings)) + finish;
  timings.total = job.sinceReceived();
  return { told, report, vertices, reasons, finish };
}

/** Remembers how long the stages took, for the deadlines of later steps. @param finish µs of the report */
function noteCosts(
  { costs, memory }: PreparedStep,
  job: JobRun,
  { run, checked, listed }: Stages,
  finish: number,
): void {
  const { resolution, pieces } = run;
  const { chosen, check } = checked;
  const { search, geometry, backward, forward } = resolution.timings;
  costs.noteRun(resolution.searches, search / 1000, resolution.steps, (geometry + backward + forward + pieces) / 1000);
  if (chosen.wasTested) noteCheck(costs, memory, check / 1000, chosen.isCutShort);
  if (listed.measured) costs.noteDistances(listed.distances / 1000);
  costs.noteFinish(finish / 1000);
  const hadPairs = resolution.proximitySetReused || resolution.searches > 0;
  if (resolution.status === 'DEADLINE' && resolution.steps === 0 && (hadPairs || job.deadline.hadNoRoom)) costs.relax();
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
 * describe it, and it has made a smaller share of the motion. One that is cut short is the start.
 */
function resolutionOf({ chosen, states }: CheckedAnswer, resolution: Resolution, target: Positions): Resolution {
  const { state, problem, isCutShort, isCutBack } = chosen;
  if (!problem && !isCutShort && !isCutBack) return resolution;
  const { impulses } = resolution;
  return {
    ...resolution,
    status: isCutShort && !problem ? 'DEADLINE' : 'STALLED',
    ...progressUnknown(state.positions, target),
    limitingPairs: [],
    ...(impulses ? { impulses: { ...impulses, motionShare: impulses.shares[states - 1] ?? 0 } } : {}),
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
