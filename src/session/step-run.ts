import { IntersticeError } from '../contract/errors.js';
import type { ResolveAnswer } from '../contract/requests.js';
import type { StepRequest } from '../contract/sessions.js';
import { deadlineExceeded } from '../jobs/deadline.js';
import type { StepOutcome, StepTask } from '../jobs/scene-tasks.js';
import type { ScheduleHooks } from '../lanes/claim.js';
import { bytesOf } from '../mesh/bytes.js';
import { ownCopy } from './payload.js';
import type { Registry } from './registry.js';
import type { RequestTrace, TracedRequest } from './request-trace.js';
import type { Residency } from './residency.js';
import type { Schedule } from './schedule.js';
import type { Session } from './session.js';
import { changeMesh, composeTarget } from './step-input.js';

/** What a step needs around it. */
export interface StepRoom {
  readonly schedule: Schedule;
  readonly registry: Registry;
  readonly residency: Residency;
  readonly onFinding: ScheduleHooks['onFinding'];
  /** absent: nothing is traced */
  readonly openTrace?: ((request: TracedRequest) => Promise<RequestTrace | undefined>) | undefined;
}

/** A step whose turn has come. */
export interface StepTurn {
  readonly request: StepRequest;
  readonly frame: bigint;
  readonly times: Pick<StepTask, 'receivedAt' | 'queuedAt'>;
  readonly requestId: string | undefined;
  /** the arrays of the request are nobody else's */
  readonly isHandedOver: boolean;
  /** whether somebody still waits for the answer */
  readonly isWanted: () => boolean;
  /** whether an answer is worth nothing any more, because it was asked for by a time or not at all */
  readonly isLate: () => boolean;
  readonly hooks: ScheduleHooks;
}

/**
 * One step from its turn to its commit. Until the schedule has answered and somebody is there to take the answer nothing
 * of the session changes; then everything does, at once.
 *
 * @throws CANCELLED, DEADLINE_EXCEEDED, QUEUE_FULL, QUOTA_EXCEEDED, TOO_LARGE, and what the step job refuses
 */
export async function runStep(session: Session, room: StepRoom, turn: StepTurn): Promise<ResolveAnswer> {
  const { schedule, residency } = room;
  // Copied now where callers may re-use their arrays: these are kept until the next accepted step.
  const request = ownCopy(turn.request, turn.isHandedOver);
  const target = composeTarget(request, session.meshInput, session.target);
  const input = changeMesh(request, session.meshInput);
  const mesh = input && { version: session.nextVersion(), input };
  // Besides these the answer is kept, of about the target's size.
  const demand = bytesOf(mesh?.input ?? session.meshInput, request, target) + target.byteLength;
  room.registry.refuseBytes(demand - session.hostBytes);

  const { include, timeBudgetSeconds, onBudget } = request;
  const task: StepTask = {
    ...turn.times,
    state: session.sceneState(mesh),
    nextVersion: session.nextVersion(),
    target,
    parameters: session.parametersUnder(request.override),
    ...(request.start ? { start: request.start } : {}),
    ...(include ? { include } : {}),
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget ? { onBudget } : {}),
  };
  const trace = await room.openTrace?.({
    operation: 'step',
    requestId: turn.requestId,
    mesh: task.state.mesh,
    parameters: task.parameters,
    timeBudgetSeconds,
    onBudget,
  });
  const { onState } = turn.hooks;
  const hooks: ScheduleHooks = {
    ...turn.hooks,
    onFinding: room.onFinding,
    ...(trace
      ? {
          onState: (positions, at) => {
            trace.add(positions, at);
            return onState?.(positions, at);
          },
        }
      : {}),
  };

  const wasParked = session.residency === 'PARKED';
  residency.makeRoomFor(session);
  let outcome: StepOutcome;
  try {
    outcome = await schedule.step(task, hooks);
    if (!turn.isWanted() || session.isGone) throw new IntersticeError('CANCELLED', 'the caller went away');
    // The worker was in time; its message may not have been, where this thread had much to do.
    if (turn.isLate()) throw deadlineExceeded('on the way back from the engine');
    residency.refuseHopeless(outcome.residentBytes);
  } catch (thrown) {
    // What the worker built for a parked session, or grew beyond what there is, would be counted nowhere.
    if (wasParked || isTooLarge(thrown)) residency.park(session);
    throw thrown;
  }
  const answer = session.commit({ frame: turn.frame, request, target, mesh, stateVersion: task.nextVersion, outcome });
  residency.resume(session);
  trace?.finish(answer);
  return answer;
}

function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof IntersticeError && (thrown.code === 'TOO_LARGE' || thrown.code === 'OUT_OF_DEVICE_MEMORY');
}
