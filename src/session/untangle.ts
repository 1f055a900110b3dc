import { IntersticeError } from '../contract/errors.js';
import type { CreateSessionRequest } from '../contract/sessions.js';
import type { UntangleRequest } from '../contract/untangle.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import type { ScheduleHooks, Scheduler } from '../lanes/scheduler.js';
import { admitUntangling } from './admission.js';
import { type Call, claimOf, expiryOf, withBudget } from './call.js';
import type { ResolveServices } from './resolve.js';
import { SharedWork } from './shared-work.js';
import { RequestTrace } from './trace.js';

/**
 * An untangling. When its time is over it returns the best state that it has found; one that still waits is refused.
 *
 * @throws the refusals of admission and of the job, QUEUE_FULL, CANCELLED, DEADLINE_EXCEEDED
 */
export async function untangle(
  asked: UntangleRequest,
  call: Call,
  { scheduler, clock, limits, onFinding, trace: traceOptions }: ResolveServices,
): Promise<UntangledState> {
  admitUntangling(asked, limits);
  const request = withBudget(asked, limits);
  const { context, receivedAt, queuedAt } = call;
  const { mesh, parameters, timeBudgetSeconds } = request;
  const traced = { operation: 'untangle' as const, requestId: context.requestId, mesh, parameters, timeBudgetSeconds };
  const trace = await RequestTrace.open(traced, traceOptions);
  const work = new SharedWork<UntangledState>(clock);
  const end = work.join({ context });
  const { onQueued, onStart, onUntangleProgress, onPhase } = context;
  const hooks: ScheduleHooks = {
    signal: work.signal,
    expiresAt: expiryOf(call, request.timeBudgetSeconds),
    ...{ onQueued, onStart, onUntangleProgress, onPhase, onFinding },
    ...(trace ? { onState: trace.listener(undefined) } : {}),
    claim: claimOf(call, request.priority),
  };
  scheduler.untangle({ request, receivedAt, queuedAt }, hooks).then(
    (answer) => work.succeed(answer),
    (reason: unknown) => work.fail(reason),
  );
  const { value: answer } = await end;
  trace?.finishUntangling(answer);
  return answer;
}

/** The start and the parameters of a new session. */
export interface Opening extends Pick<CreateSessionRequest, 'start' | 'parameters'> {
  /** absent = the start is the caller's */
  readonly untangled?: UntangledState;
}

/**
 * Untangles the start of a session that requests it.
 *
 * @throws INTERSECTING_START with the remaining pairs; otherwise like {@link untangle}
 */
export async function openingOf(
  { mesh, start, parameters, timeBudgetSeconds, untangle: options }: CreateSessionRequest,
  call: Call,
  signal: AbortSignal,
  scheduler: Pick<Scheduler, 'untangle'>,
): Promise<Opening> {
  if (parameters.onIntersectingStart !== 'UNTANGLE') return { start, parameters };
  const { receivedAt, queuedAt } = call;
  const own = { ...parameters, onIntersectingStart: 'REJECT' as const };
  const request: UntangleRequest = {
    ...{ mesh, positions: start, parameters: own },
    ...options,
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
  };
  const expiresAt = expiryOf(call, timeBudgetSeconds);
  const hooks = { signal, expiresAt, claim: claimOf(call) };
  const untangled = await scheduler.untangle({ request, receivedAt, queuedAt }, hooks);
  const { status, piercesAfter, piercesBefore, remaining, ended } = untangled.report;
  if (status === 'FREE') return { start: untangled.positions, parameters: own, untangled };
  throw new IntersticeError(
    'INTERSECTING_START',
    `The start could not be untangled: ${piercesAfter} of ${piercesBefore} pierces are left (${ended ? `${status}, ${ended}` : status}).`,
    {
      pairs: remaining,
      pairCount: piercesAfter,
      hint: 'Call Untangle for the state that was reached; a layer hint or a larger time budget may free it.',
    },
  );
}
