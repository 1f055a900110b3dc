import { cancelled, IntersticeError } from '../contract/errors.js';
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
  const trace = RequestTrace.open(traced, traceOptions);
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

/** A call for the creation of a session. */
export interface CreationCall extends Call {
  /** ms of the monotonic clock; undefined = no deadline */
  readonly expiresAt: number | undefined;
  /** as requested; undefined = that of the server */
  readonly timeBudgetSeconds: number | undefined;
}

/**
 * Untangles the start of a session that requests it, within the time budget of the first call, and if that was not
 * enough, again for the next one.
 *
 * @param work the calls that wait for the session
 * @throws INTERSECTING_START with the remaining pairs; otherwise like {@link untangle}
 */
export async function openingOf(
  request: CreateSessionRequest,
  work: SharedWork<unknown, CreationCall>,
  scheduler: Pick<Scheduler, 'untangle'>,
): Promise<Opening> {
  const { start, parameters } = request;
  if (parameters.onIntersectingStart !== 'UNTANGLE') return { start, parameters };
  for (;;) {
    const [call] = work.waiters;
    if (!call) throw cancelled();
    try {
      return await untangleStart(request, call, work.signal, scheduler);
    } catch (thrown) {
      if (!(thrown instanceof OutOfTime)) throw thrown;
      work.refuse(call, thrown.refusal);
      if (work.isAbandoned) throw thrown.refusal;
    }
  }
}

/** The budget of a call was not enough. */
class OutOfTime extends Error {
  constructor(readonly refusal: IntersticeError) {
    super(refusal.message);
  }
}

/** @throws OutOfTime; INTERSECTING_START if more time would not help, and what the job refuses */
async function untangleStart(
  { mesh, start, parameters, untangle: options }: CreateSessionRequest,
  call: CreationCall,
  signal: AbortSignal,
  scheduler: Pick<Scheduler, 'untangle'>,
): Promise<Opening> {
  const { receivedAt, queuedAt, timeBudgetSeconds } = call;
  const own = { ...parameters, onIntersectingStart: 'REJECT' as const };
  const request: UntangleRequest = {
    ...{ mesh, positions: start, parameters: own },
    ...options,
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
  };
  const expiresAt = expiryOf(call, timeBudgetSeconds);
  const hooks = { signal, expiresAt, claim: claimOf(call) };
  const untangled = await scheduler.untangle({ request, receivedAt, queuedAt }, hooks).catch((thrown: unknown) => {
    const isLate = thrown instanceof IntersticeError && thrown.code === 'DEADLINE_EXCEEDED';
    throw isLate ? new OutOfTime(thrown) : thrown;
  });
  const { status, piercesAfter, piercesBefore, remaining, ended } = untangled.report;
  if (status === 'FREE') return { start: untangled.positions, parameters: own, untangled };
  const refusal = new IntersticeError(
    'INTERSECTING_START',
    `The start could not be untangled: ${piercesAfter} of ${piercesBefore} pierces are left (${ended ? `${status}, ${ended}` : status}).`,
    {
      pairs: remaining,
      pairCount: piercesAfter,
      hint: 'Call Untangle for the state that was reached; a layer hint or a larger time budget may free it.',
    },
  );
  throw ended === 'TIME_BUDGET' ? new OutOfTime(refusal) : refusal;
}
