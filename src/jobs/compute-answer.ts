import { cancelled, draining, type Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { StageTimings, Timings } from '../contract/report.js';
import type { ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import { algorithmVersion } from '../paths.js';
import type { EnginePositions, Resolution, StepInput } from '../solver/engine.js';
import type { StateFindings } from '../verify/types.js';
import { deadlineExceeded, unlessOver } from './deadline.js';
import type { JobRun } from './job-run.js';
import type { PreparedStep } from './prepare-step.js';
import { buildReport, measureMinDistance, progressUnknown } from './report.js';
import { type ChosenAnswer, chooseAnswer, pathScopeOf, StateTrail } from './state-trail.js';
import { engineTargetOf, warnOfEarlierState } from './target.js';

/** What differs between a resolve and a step of a session. */
interface StepHost {
  /** runs the engine */
  run(input: StepInput): Promise<Resolution>;
  /** the step as a complete request with positions of its own: for the reproduction of a finding */
  toRequest(): ResolveRequest;
  /** whether the scene was lost and built again; asked after the engine has run */
  isRebuilt?(): boolean;
}

interface ComputedAnswer {
  readonly answer: ResolveAnswer;
  /** the answer in the engine's coordinates, under the frame of the step */
  readonly engine: EnginePositions;
  /** of the exact test of the answer; undefined = not tested */
  readonly findings: StateFindings | undefined;
  /** ms that the test of the answer took; undefined = no test was needed */
  readonly checkMs: number | undefined;
  /** the budget ended that test, which would have taken longer */
  readonly isCutShort: boolean;
}

/**
 * From a checked start to the answer: runs the engine, follows its path, verifies the result and reports. The answer is safe
 * whatever the engine does: only positions that the verifier has passed, in the very numbers that are sent, are returned
 * (docs/method.md, S9), unless the request says to skip the verification.
 *
 * @throws CANCELLED, DEADLINE_EXCEEDED, and whatever the engine throws
 */
export async function computeAnswer(prepared: PreparedStep, job: JobRun, host: StepHost): Promise<ComputedAnswer> {
  const { context, deadline, stopwatch } = job;
  const rules = { ...prepared.rules, checkpoint: job.during('while the answer was verified') };
  const step: PreparedStep = { ...prepared, rules };
  const { mesh, parameters, images, contactDistance } = step;
  const { verifier, now, engine, onState } = context;
  const scope = pathScopeOf(mesh, parameters.verify);
  const trail = new StateTrail(step, verifier, scope, onState);
  // A device that reports every state takes one step at a time, with a pause after each. It does so only if something needs
  // the states. Otherwise the start is the only state to fall back to, which suffices after a finding, a fault of the service.
  const isListening = scope !== undefined || onState !== undefined || engine.hasCheapStates === true;
  const target = engineTargetOf(mesh, step.chosen.range, images);
  const opening = stopwatch.lap();
  let pieces = 0;
  const engineResolution = await runUnlessCancelled(job, host, {
    x: images.startEngine,
    y: target.positions,
    ...(rules.excluded ? { excluded: rules.excluded } : {}),
    shouldStop: () =>
      context.isCancelled() || job.isEnding || trail.problem !== undefined || trail.wasStopped || deadline.isDue(),
    timeLeft: () => (context.isCancelled() || job.isEnding ? 0 : deadline.timeLeft()),
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
  const resolution = target.restate(engineResolution, parameters.residualTolerance);
  const inEngine = stopwatch.lap();
  job.checkpoint('in the engine');
  if (job.times.onBudget === 'FAIL' && resolution.status === 'DEADLINE' && trail.problem === undefined) {
    throw job.isEnding ? draining() : deadlineExceeded('in the engine');
  }

  trail.finish(resolution.positions);
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
  const contacts =
    contactDistance === undefined
      ? undefined
      : await unlessOver(() => verifier.findContacts(mesh, positions, rules, contactDistance));
  job.checkpoint('while the answer was verified');

  const timings: Timings = { ...job.openingTimings(), ...resolution.timings };
  timings.verify += opening + pieces + check + stopwatch.lap();
  const { report, vertices } = buildReport(step, {
    answer: positions,
    minDistance: measured?.minDistance,
    resolution: resolutionOf(chosen, resolution, images.target),
    verification: chosen.verification,
    findings: chosen.findings,
    warnings: [
      ...target.warnings(parameters),
      ...(chosen.isCutBack ? [warnOfEarlierState(parameters, images.target)] : []),
      ...warnOfBudget(job, resolution, {
        isCutShort: chosen.isCutShort,
        isMeasured: measured !== undefined,
        lacksContacts: contactDistance !== undefined && contacts === undefined,
      }),
    ],
    timings,
    engine: engine.description.name,
    isRebuilt: host.isRebuilt?.() ?? false,
  });
  job.checkpoint('while the answer was verified');
  // Mapping back counts as "verify", piece by piece. What remains is measuring the answer for the report, and the engine's
  // work besides its stages: transfers, counting, waiting for its device.
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

/** If the answer is an earlier state than the engine's last, the engine's status and residuals do not describe it. */
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
  };
}

/** What a budget that was too small was spent on, and what was omitted because of it. */
function warnOfBudget(
  job: JobRun,
  { status, steps, timings }: Resolution,
  omitted: { readonly isCutShort: boolean; readonly isMeasured: boolean; readonly lacksContacts: boolean },
): Warning[] {
  const warnings: Warning[] = [];
  const { timeBudgetSeconds } = job.times;
  if (job.isEnding && status === 'DEADLINE') {
    warnings.push({
      code: 'SERVER_SHUTS_DOWN',
      message: `The server shuts down: the answer is the safe state after ${steps} ${steps === 1 ? 'step' : 'steps'}. Another server can go on from it.`,
      count: 1,
    });
  } else if (omitted.isCutShort) {
    warnings.push({
      code: 'BUDGET_SPENT_ON_CHECKS',
      message:
        `The time budget of ${timeBudgetSeconds} s ended while the outcome of ${steps} ${steps === 1 ? 'step' : 'steps'} was tested. ` +
        'The answer is the start, which is known to be safe.',
      count: 1,
    });
  } else if (status === 'DEADLINE' && steps === 0) {
    const { queue, decode, upload, verify } = job.openingTimings();
    const seconds = (microseconds: number) => `${(microseconds / 1e6).toFixed(3)} s`;
    warnings.push({
      code: 'BUDGET_SPENT_ON_CHECKS',
      message:
        `No step was completed in the time budget of ${timeBudgetSeconds} s: ${seconds(queue + decode)} passed before the work began; ` +
        `reading the mesh and its positions took ${seconds(upload)}, checking the start ${seconds(verify)}, ` +
        `and a step that was not completed ${seconds(sumOf(timings))}. ` +
        'Testing an answer takes as long as checking the start.',
      count: 1,
    });
  }
  if (status === 'DEADLINE' && !job.isEnding) warnings.push(...warnOfBusyCores(job));
  if (omitted.lacksContacts) {
    warnings.push({
      code: 'CONTACTS_NOT_MEASURED',
      message: `Contacts are omitted: finding them would have exceeded the time budget of ${timeBudgetSeconds} s.`,
      count: 1,
    });
  }
  if (!omitted.isMeasured) {
    warnings.push({
      code: 'MIN_DISTANCE_NOT_MEASURED',
      message: `min_distance is omitted: measuring it would have exceeded the time budget of ${timeBudgetSeconds} s.`,
      count: 1,
    });
  }
  return warnings;
}

/** Share of a job's time from which waiting for a core is worth a word. */
const WORTH_TELLING = 0.1;

/** A budget runs on while more urgent work has the cores, and the caller is told how much of it went that way. */
function warnOfBusyCores({ coreWaitMs, stopwatch, context, times }: JobRun): Warning[] {
  if (!(coreWaitMs > WORTH_TELLING * (context.now() - stopwatch.startedAt))) return [];
  const waited = (coreWaitMs / 1000).toFixed(3);
  return [
    {
      code: 'CORES_WERE_BUSY',
      message: `For ${waited} s of the time budget of ${times.timeBudgetSeconds} s other work on this server had the cores.`,
      count: 1,
    },
  ];
}

function sumOf({ search, geometry, backward, forward }: StageTimings): number {
  return search + geometry + backward + forward;
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
