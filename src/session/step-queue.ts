import { IntersticeError } from '../contract/errors.js';
import type { StepAnswer, StepRequest } from '../contract/sessions.js';
import { bytesOf } from '../mesh/bytes.js';
import { type Call, claimOf, isOver } from './calls.js';
import type { SessionClock } from './clock.js';
import { checkFrame, isRetryOf, isSettled, judgeFrame } from './frames.js';
import type { Session } from './session.js';
import { SharedCall, type Waiter } from './shared-call.js';
import { checkStep } from './step-input.js';
import { runStep, type StepRoom } from './step-run.js';

/** A caller of a step: the first one's request is computed, the others' ask for the same. */
export interface StepCaller extends Waiter {
  readonly call: Call;
  readonly request: StepRequest;
}

/** Bounds the steps that wait behind another one of their own session. */
export interface HeldBound {
  /** @param bytes of the arrays that are kept while it waits @throws QUEUE_FULL */
  enter(tenant: string, bytes: number): void;
  leave(tenant: string, bytes: number): void;
}

interface PendingStep {
  readonly request: StepRequest;
  readonly shared: SharedCall<StepAnswer, StepCaller>;
  /** the one it asked for, or was given when it started */
  frame: bigint | undefined;
  isStarted: boolean;
  /** it stood behind another one, and was given a place for that */
  hasWaited: boolean;
  /** of the arrays of the request */
  readonly bytes: number;
}

/**
 * The steps of one session, in the order they came, one at a time. A step is put together when its turn comes, for it goes
 * on from what the one before it left.
 */
export class StepQueue {
  private readonly pending: PendingStep[] = [];

  constructor(
    private readonly session: Session,
    private readonly room: StepRoom,
    private readonly clock: SessionClock,
    private readonly bound: HeldBound,
    /** told when the first step comes, and when the last one has ended */
    private readonly onChange: (change: 'busy' | 'idle') => void,
  ) {}

  /**
   * @throws what a step is refused with before its turn (frames, sizes, names), QUEUE_FULL, CANCELLED, DEADLINE_EXCEEDED,
   * and what the schedule refuses
   */
  async enter(caller: StepCaller): Promise<StepAnswer> {
    const { request, call } = caller;
    const { session } = this;
    checkFrame(request.frame);
    checkStep(request, session.meshInput);
    if (caller.signal?.aborted) throw new IntersticeError('CANCELLED', 'the caller went away');
    if (isSettled(request.frame, session.lastStep)) {
      judgeFrame(request, session.lastStep);
      return this.replay();
    }
    const step = this.pending.find((other) => !other.shared.isAbandoned && isRetryOf(request, other));
    return await this.waitFor(step ?? this.add(request, call.tenant), caller, step === undefined);
  }

  /** Whether a step that came now would have to wait for an earlier one of its session. */
  get isBusy(): boolean {
    return this.pending.length > 0;
  }

  /** The session is gone: what waits is refused, what runs is stopped. */
  cancel(reason: IntersticeError): void {
    for (const step of [...this.pending]) step.shared.cancel(reason);
  }

  private async waitFor(step: PendingStep, caller: StepCaller, isNew: boolean): Promise<StepAnswer> {
    const end = step.shared.join(caller);
    if (isNew) this.startNext();
    const { value, isFirst } = await end;
    return isFirst ? value : { ...value, isReplay: true };
  }

  private add(request: StepRequest, tenant: string): PendingStep {
    const hasWaited = this.pending.length > 0;
    const bytes = bytesOf(request);
    if (hasWaited) this.bound.enter(tenant, bytes);
    else this.onChange('busy');
    const step: PendingStep = {
      request,
      frame: request.frame,
      isStarted: false,
      hasWaited,
      bytes,
      shared: new SharedCall<StepAnswer, StepCaller>(this.clock, () => {
        if (!step.isStarted) this.remove(step);
      }),
    };
    this.pending.push(step);
    return step;
  }

  /** Of a step that has not started. */
  private remove(step: PendingStep): void {
    const place = this.pending.indexOf(step);
    this.pending.splice(place, 1);
    if (place > 0) this.bound.leave(this.session.tenant, step.bytes);
    if (this.pending.length === 0) this.onChange('idle');
  }

  private startNext(): void {
    const [step] = this.pending;
    if (step && !step.isStarted) void this.run(step);
  }

  private async run(step: PendingStep): Promise<void> {
    step.isStarted = true;
    const { session, room } = this;
    try {
      const verdict = judgeFrame(step.request, session.lastStep);
      if (verdict.kind === 'replay') {
        step.shared.succeed(this.replay());
      } else {
        step.frame = verdict.frame;
        const [first] = step.shared.waiters;
        const { call, request, expiresAt } = first!;
        // Who may be given a safe state is kept in time by the work; who wants an answer in time or none is told at that time,
        // whatever the work is doing.
        const isHard = request.onBudget === 'FAIL';
        if (!isHard) step.shared.leaveTimeToWork();
        const answer = await runStep(session, room, {
          request,
          frame: verdict.frame,
          times: { receivedAt: call.receivedAt, queuedAt: call.queuedAt },
          requestId: call.context.requestId,
          isHandedOver: call.context.isHandedOver === true,
          isWanted: () => !step.shared.isAbandoned,
          isLate: () => isHard && isOver(expiresAt, this.clock),
          hooks: {
            signal: step.shared.signal,
            expiresAt,
            // What was taken in is not refused later for want of room, after its time was spent on waiting.
            hasPlace: step.hasWaited,
            claim: claimOf(call, request.priority, session.key),
            ...progressOf(step.shared.waiters),
            ...(call.context.onState ? { onState: call.context.onState } : {}),
          },
        });
        step.shared.succeed({ ...answer, frame: verdict.frame, isReplay: false });
      }
    } catch (thrown) {
      step.shared.fail(thrown);
    }
    this.pending.shift();
    // The one that is next has waited until now.
    const [next] = this.pending;
    if (next) this.bound.leave(session.tenant, next.bytes);
    else this.onChange('idle');
    this.startNext();
  }

  private replay(): StepAnswer {
    const { storedAnswer, lastStep } = this.session;
    return { ...storedAnswer!, frame: lastStep.frame, isReplay: true };
  }
}

/** Those who wait when it starts and want to see progress; a later retry does without. */
function progressOf(callers: readonly StepCaller[]) {
  const listeners = callers.flatMap(({ call }) => call.context.onProgress ?? []);
  if (listeners.length === 0) return {};
  return {
    onProgress: (progress: Parameters<(typeof listeners)[number]>[0]) => {
      for (const listener of listeners) listener(progress);
    },
  };
}
