import type { CallContext } from '../contract/call-context.js';
import { cancelled, IntersticeError } from '../contract/errors.js';
import type { JobPhase } from '../contract/long-jobs.js';
import type { ResolveAnswer } from '../contract/requests.js';
import type { StepAnswer, StepRequest } from '../contract/sessions.js';
import { deadlineExceeded } from '../jobs/deadline.js';
import type { StepOutcome, StepTask } from '../jobs/tasks.js';
import type { ScheduleHooks, Scheduler } from '../lanes/scheduler.js';
import { bytesOf } from '../mesh/bytes.js';
import { type Call, claimOf, isExpired, type SessionClock } from './call.js';
import { checkFrame, checkPlace, isRetryOf, isSettled, judgeFrame, type LastStep, type Verdict } from './frames.js';
import type { SessionKeeper } from './keeper.js';
import { ownCopy } from './payload.js';
import type { QueuedSteps } from './pending-work.js';
import type { Registry } from './registry.js';
import type { Residency } from './residency.js';
import type { Session } from './session.js';
import { SessionMoved } from './session-moved.js';
import { SharedWork } from './shared-work.js';
import { checkStep } from './step-input.js';
import { RequestTrace, type TraceOptions } from './trace.js';

/** A call for a step. Calls for the same frame with the same payload share one computation. */
export interface StepCall extends Call {
  readonly request: StepRequest;
  /** ms of the monotonic clock; undefined = no deadline */
  readonly expiresAt: number | undefined;
}

/** A step that waits for its turn or runs. */
interface QueuedStep {
  readonly request: StepRequest;
  readonly work: SharedWork<StepAnswer, StepCall>;
  /** the requested frame, or the one that the step got when it started */
  frame: bigint | undefined;
  isStarted: boolean;
  /** whether a lane computes it */
  isComputed: boolean;
  /** the last one that the lane has announced; undefined = none, or nobody hears of its progress */
  phase: JobPhase | undefined;
  /** whether it has waited behind another step, so that {@link QueuedSteps} counted it */
  readonly hasWaited: boolean;
  /** of the arrays of the request */
  readonly bytes: number;
}

/** Services that the steps of all sessions share. */
export interface StepServices {
  readonly scheduler: Pick<Scheduler, 'step'>;
  readonly clock: SessionClock;
  readonly queuedSteps: QueuedSteps;
  readonly registry: Registry;
  readonly residency: Residency;
  /** Takes host memory, for which idle sessions may leave this process: see `LiveSessions.withRoom`. */
  readonly withRoom: (take: () => void) => Promise<void>;
  readonly onFinding: ScheduleHooks['onFinding'];
  /** undefined = sessions live in this process only */
  readonly keeper: SessionKeeper | undefined;
  /** undefined = nothing is traced */
  readonly trace: TraceOptions | undefined;
}

/**
 * The steps of one session, one at a time in the order of their arrival. The task of a step is composed when its turn
 * comes, because it continues from the result of the step before it.
 *
 *     enter ──► waits (QueuedSteps counts it) ──► turn: frame, task ──► lane ──► commit ──► answer to all its calls
 *       │                                              ▲           │ the budget of its first call is spent
 *       │                                              └───────────┘ and other calls have time left
 *       └─ a retry joins the step that is pending; an accepted frame gets the stored answer
 */
export class StepQueue {
  private readonly steps: QueuedStep[] = [];

  /** @param onChange called when the first step arrives, and when the last one has ended */
  constructor(
    private readonly session: Session,
    private readonly services: StepServices,
    private readonly onChange: (change: 'busy' | 'idle') => void,
  ) {}

  /** Whether a new step would have to wait for an earlier one. */
  get isBusy(): boolean {
    return this.steps.length > 0;
  }

  /**
   * @throws the refusals before the turn of the step (frame, sizes, names), QUEUE_FULL, CANCELLED, DEADLINE_EXCEEDED,
   *   QUOTA_EXCEEDED, TOO_LARGE, and the refusals of the step's job
   */
  async enter(call: StepCall): Promise<StepAnswer> {
    const { session } = this;
    const { request, context } = call;
    checkFrame(request.frame);
    checkStep(request, session.meshInput);
    if (context.signal?.aborted) throw cancelled();
    if (isSettled(request.frame, session.lastStep)) {
      judgeFrame(request, session.lastStep);
      return this.replay();
    }
    const pending = this.steps.find((step) => !step.work.isAbandoned && isRetryOf(request, step, session.lastStep));
    const step = pending ?? this.add(call);
    const answer = step.work.join(call);
    if (step.hasWaited && !step.isStarted) context.onQueued?.(() => Math.max(0, this.steps.indexOf(step)));
    if (step.isComputed) context.onStart?.(true);
    if (step.phase) context.onPhase?.(step.phase);
    if (!pending) this.startNext();
    const { value, isFirst } = await answer;
    return isFirst ? value : { ...value, isReplay: true };
  }

  /** Fails the steps that wait, and stops the one that runs: the session has ended. */
  cancel(reason: Error): void {
    for (const step of [...this.steps]) step.work.cancel(reason);
  }

  private add({ request, tenant }: StepCall): QueuedStep {
    const hasWaited = this.isBusy;
    const bytes = bytesOf(request);
    if (hasWaited) this.services.queuedSteps.enter(tenant, bytes);
    else this.onChange('busy');
    const step: QueuedStep = {
      request,
      frame: request.frame,
      isStarted: false,
      isComputed: false,
      phase: undefined,
      hasWaited,
      bytes,
      work: new SharedWork<StepAnswer, StepCall>(this.services.clock, () => {
        if (!step.isStarted) this.remove(step);
      }),
    };
    this.steps.push(step);
    return step;
  }

  /** @param step that has not started */
  private remove(step: QueuedStep): void {
    const place = this.steps.indexOf(step);
    this.steps.splice(place, 1);
    if (place > 0) this.services.queuedSteps.leave(this.session.tenant, step.bytes);
    if (!this.isBusy) this.onChange('idle');
  }

  private startNext(): void {
    const [step] = this.steps;
    if (step && !step.isStarted) void this.run(step);
  }

  private async run(step: QueuedStep): Promise<void> {
    step.isStarted = true;
    try {
      const verdict = this.judge(step) ?? (await this.judgeAgain(step));
      if (verdict.kind === 'replay') {
        step.work.succeed(this.replay());
      } else {
        const { frame } = verdict;
        step.frame = frame;
        step.work.succeed({ ...(await this.computeInTime(step, frame)), frame, isReplay: false });
        await this.services.keeper?.checkpoints.writeIfDue(this.session);
      }
    } catch (thrown) {
      step.work.fail(thrown);
      // The steps behind it follow the session, in their order: none is judged by a state that is not its own any longer.
      if (thrown instanceof SessionMoved) this.cancel(thrown);
    }
    this.steps.shift();
    const [next] = this.steps;
    if (next) this.services.queuedSteps.leave(this.session.tenant, next.bytes);
    else this.onChange('idle');
    this.startNext();
  }

  /** @returns undefined if the step is not to be refused yet, see {@link judgeAgain} @throws as {@link verdictOn} */
  private judge({ request }: QueuedStep): Verdict | undefined {
    try {
      return verdictOn(request, this.session.lastStep);
    } catch (refusal) {
      if (this.services.keeper) return undefined;
      throw refusal;
    }
  }

  /**
   * Before a step is refused because of its frame, the store is asked whether the session has gone on elsewhere: nobody
   * asks when a step comes to a busy session, the step before it may have ended without a query, and a step that comes
   * while its session is being loaded gets the state of when that began.
   *
   * @throws as {@link verdictOn}; SessionMoved, STORE_UNAVAILABLE, CANCELLED
   */
  private async judgeAgain({ request, work }: QueuedStep): Promise<Verdict> {
    await this.services.keeper?.confirm(this.session);
    if (work.isAbandoned) throw cancelled();
    return verdictOn(request, this.session.lastStep);
  }

  /** Computes a step within the time budget of the first call, and if that was not enough, again for the next one. */
  private async computeInTime(step: QueuedStep, frame: bigint): Promise<ResolveAnswer> {
    const { work } = step;
    for (;;) {
      const [call] = work.waiters;
      try {
        return await this.compute(step, call!, frame);
      } catch (thrown) {
        if (!isOver(thrown)) throw thrown;
        work.refuse(call!, thrown);
        if (work.isAbandoned) throw thrown;
      }
    }
  }

  /**
   * From the turn of a step to its commit. The session does not change until the lane has answered and a caller is
   * waiting for the answer; then everything changes at once.
   *
   * @param call the first that waits: its time budget and priority apply
   */
  private async compute(step: QueuedStep, call: StepCall, frame: bigint): Promise<ResolveAnswer> {
    const { work, hasWaited } = step;
    const { session } = this;
    const { scheduler, clock, registry, residency, withRoom, onFinding, keeper } = this.services;
    const { context, expiresAt } = call;
    // Under RETURN_SAFE the lane observes the deadline and returns a safe state. Under FAIL the caller is refused when
    // its time is over, whatever the lane is doing at that moment.
    if (!isHard(call)) work.leaveDeadlineToWork();
    const listeners = listenersOf(work.waiters);
    step.isComputed = false;
    step.phase = undefined;
    const onStart = () => {
      step.isComputed = true;
      for (const waiting of work.waiters) waiting.context.onStart?.();
    };
    const onPhase = (phase: JobPhase) => {
      step.phase = phase;
      for (const waiting of work.waiters) waiting.context.onPhase?.(phase);
    };
    // A step never computes with settings that the store then refuses.
    while (session.kept?.deciding) await session.kept.deciding;

    // The session keeps the arrays until its next accepted step, so they are copied now if the caller may reuse them.
    const request = ownCopy(call.request, context.isHandedOver === true);
    if (keeper && session.kept?.pending) {
      const known = await keeper.takePending(session, frame, request);
      work.refuseLateWith(undecided());
      return keeper.commit(session, known);
    }
    const task = session.prepareStep(request, call);
    // The answer is kept, too; it is about as large as the target.
    const demand = bytesOf(task.state.mesh, request, task.target) + task.target.byteLength;
    await withRoom(() => registry.refuseBytes(demand - session.hostBytes, session.hostBytes));

    const trace = this.openTrace(task, context.requestId);
    const onState = trace ? trace.listener(context.onState) : context.onState;
    const hooks: ScheduleHooks = {
      signal: work.signal,
      expiresAt,
      // A step that has waited here was admitted when it arrived, so it is not refused now.
      hasPlace: hasWaited,
      claim: claimOf(call, request.priority, session.key),
      onFinding,
      ...listeners,
      onStart,
      onPhase,
      ...(onState ? { onState } : {}),
    };

    const wasParked = session.residency === 'PARKED';
    residency.makeRoomFor(session);
    let outcome: StepOutcome;
    try {
      outcome = await scheduler.step(task, hooks);
      // The lane met the deadline, but its message may be late: this thread may have been busy.
      for (const late of work.waiters.filter((one) => isHard(one) && isExpired(one.expiresAt, clock))) {
        work.refuse(late, deadlineExceeded('on the way back from the engine'));
      }
      const refuseCancelled = () => {
        if (work.isAbandoned || session.hasEnded) throw cancelled();
      };
      refuseCancelled();
      residency.refuseAboveLimit(outcome.residentBytes);
      // A path, contacts or reasons may be larger than the rest, and their size was not known before.
      const held = session.bytesWith(request, task, outcome);
      await withRoom(() => registry.refuseBytes(held - session.hostBytes, session.hostBytes));
      refuseCancelled();
    } catch (thrown) {
      // Otherwise memory that the lane took for a parked session, or beyond the limit, would not be counted.
      if (wasParked || isTooLarge(thrown)) residency.park(session);
      throw thrown;
    }
    // The lane holds the scene, whatever the store decides about the step.
    if (keeper) residency.resume(session);
    if (keeper) work.refuseLateWith(undecided());
    const answer = keeper
      ? await keeper.commit(session, { frame, request, task, outcome })
      : session.commit(frame, request, task, outcome);
    residency.resume(session);
    trace?.finish(answer);
    return answer;
  }

  private openTrace(task: StepTask, requestId: string | undefined): RequestTrace | undefined {
    const { state, parameters, timeBudgetSeconds, onBudget } = task;
    return RequestTrace.open(
      { operation: 'step', requestId, mesh: state.mesh, parameters, timeBudgetSeconds, onBudget },
      this.services.trace,
    );
  }

  private replay(): StepAnswer {
    const { storedAnswer, lastStep } = this.session;
    return { ...storedAnswer!, frame: lastStep.frame, isReplay: true };
  }
}

/** @throws FRAME_OUT_OF_ORDER, FRAME_CONFLICT, FRAME_LOST, INVALID_PARAMETER */
function verdictOn(request: StepRequest, last: LastStep): Verdict {
  const verdict = judgeFrame(request, last);
  if (verdict.kind === 'accept') checkPlace(request, last);
  return verdict;
}

type Listeners = Pick<CallContext, 'onQueued' | 'onProgress'>;

/**
 * Notifies the calls that wait when the turn of the step comes. A retry that joins later learns only that the step has
 * started, and its phases if the lane announces them.
 */
function listenersOf(calls: readonly StepCall[]): Listeners {
  return {
    ...togetherOf('onQueued', calls),
    ...togetherOf('onProgress', calls),
  };
}

/** One listener for those of all calls; none if there are none. */
function togetherOf<K extends keyof Listeners>(name: K, calls: readonly StepCall[]): Pick<Listeners, K> {
  type Listener = (...told: unknown[]) => void;
  const listeners = calls.flatMap(({ context }) => (context[name] as Listener | undefined) ?? []);
  if (listeners.length === 0) return {} as Pick<Listeners, K>;
  const together: Listener = (...told) => {
    for (const listen of listeners) listen(...told);
  };
  return { [name]: together } as Pick<Listeners, K>;
}

/** Whether a call is refused at its deadline, instead of getting the safe state that was reached. */
function isHard({ request }: StepCall): boolean {
  return request.onBudget === 'FAIL';
}

/** At the deadline of a call whose step the store may have accepted: nobody may be told that nothing has changed. */
function undecided(): IntersticeError {
  const reason = 'The time budget was spent before the session store had confirmed the frame.';
  return new IntersticeError('STORE_UNAVAILABLE', reason, { retryAfterSeconds: 1 });
}

/** Whether a time budget has ended the work. */
function isOver(thrown: unknown): thrown is IntersticeError {
  return thrown instanceof IntersticeError && thrown.code === 'DEADLINE_EXCEEDED';
}

function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof IntersticeError && (thrown.code === 'TOO_LARGE' || thrown.code === 'OUT_OF_DEVICE_MEMORY');
}
