import type { Warning } from '../contract/errors.js';
import type { BudgetReport, StageTimings } from '../contract/report.js';
import type { Resolution } from '../solver/engine.js';
import type { JobRun } from './job-run.js';
import type { StepCosts } from './step-costs.js';

/** What the report says of a time budget; undefined = the request has none. */
export function describeBudget({ deadline, times }: JobRun, costs: StepCosts): BudgetReport | undefined {
  if (times.timeBudgetSeconds === undefined) return undefined;
  const { check, finish, distances } = deadline.keptBack;
  const { needed } = costs;
  return {
    grantedUs: 1e6 * times.timeBudgetSeconds,
    keptForTestUs: 1000 * check,
    keptForReportUs: 1000 * finish,
    keptForMinDistanceUs: 1000 * distances,
    ...(needed === undefined ? {} : { neededUs: 1000 * needed }),
  };
}

/** Warns what a budget that was too small was spent on, and what was omitted because of it. */
export function warnOfBudget(
  job: JobRun,
  { status, steps, timings }: Resolution,
  omitted: {
    readonly isCutShort: boolean;
    /** the answer is an earlier state than the last one, whose step is not told */
    readonly isEarlier: boolean;
    readonly isMeasured: boolean;
    readonly lacksContacts: boolean;
    readonly lacksReasons: boolean;
    readonly keepsSearch: boolean;
  },
): Warning[] {
  const warnings: Warning[] = [];
  const { timeBudgetSeconds } = job.times;
  if (job.isEnding && status === 'DEADLINE') {
    const made = `${steps} ${steps === 1 ? 'step' : 'steps'}`;
    const state = omitted.isCutShort
      ? `the start, because the time budget of ${timeBudgetSeconds} s ended while the outcome of ${made} was tested`
      : omitted.isEarlier
        ? `a safe state before the last of ${made}`
        : `the safe state after ${made}`;
    warnings.push({
      code: 'SERVER_SHUTS_DOWN',
      message: `The server shuts down: the answer is ${state}. Another server can continue from it.`,
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
        (omitted.keepsSearch && timings.search > 0
          ? 'The service keeps the pairs that the search has found, and the next step of the session continues from there.'
          : 'Testing an answer takes as long as checking the start.'),
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
  if (omitted.lacksReasons) {
    warnings.push({
      code: 'REASONS_NOT_MEASURED',
      message: `Reasons are omitted: finding the contacts that they need would have exceeded the time budget of ${timeBudgetSeconds} s.`,
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

/** Share of a job's time from which the report mentions waiting for a core. */
const WORTH_TELLING = 0.1;

/** A budget runs on while more urgent work has the cores; the report then says how much of it passed that way. */
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

export function sumOf({ search, geometry, backward, forward }: StageTimings): number {
  return search + geometry + backward + forward;
}
