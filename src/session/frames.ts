import { IntersticeError } from '../contract/errors.js';
import type { StepRequest } from '../contract/sessions.js';
import { digestOf, isSamePayload } from './payload.js';

/**
 * The frame numbers of a session's steps. A step is judged when its turn comes, against the last accepted frame,
 * because a step that still waits or runs may fail, and a failed step must not cause the refusal of another one. Two
 * verdicts are given at once, because no pending step can change them: on a frame that is not greater than the last
 * accepted one (which only grows), and on a frame that is pending already.
 */

/** The last accepted step of a session. */
export interface LastStep {
  /** 0n before the first step */
  readonly frame: bigint;
  /** absent before the first step, and if another process has computed the step */
  readonly request?: StepRequest | undefined;
  /** of its payload (digestOf); present if the request is absent */
  readonly digest?: string | undefined;
}

export type Verdict = { readonly kind: 'accept'; readonly frame: bigint } | { readonly kind: 'replay' };

/** The contract's type is uint64. */
const MAX_FRAME = 2n ** 64n - 1n;

/** @throws INVALID_PARAMETER for a number that cannot be a frame */
export function checkFrame(frame: bigint | undefined): void {
  if (frame === undefined || (frame >= 0n && frame <= MAX_FRAME)) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `Field frame is ${frame}; it must be a whole number from 1 to 2^64 - 1.`,
  );
}

/**
 * An unset frame is the last one + 1. A greater frame is accepted, gaps included. The last frame with the same payload gets
 * the stored answer.
 *
 * @throws FRAME_OUT_OF_ORDER, FRAME_CONFLICT; INVALID_PARAMETER when no frame is left
 */
export function judgeFrame(request: StepRequest, last: LastStep): Verdict {
  const { frame } = request;
  if (frame === undefined) {
    if (last.frame < MAX_FRAME) return { kind: 'accept', frame: last.frame + 1n };
    throw new IntersticeError('INVALID_PARAMETER', `Frame ${last.frame} was the last possible frame.`, {
      hint: 'Create another session from your mesh and last answer.',
    });
  }
  if (frame > last.frame) return { kind: 'accept', frame };
  if (frame < last.frame || frame === 0n) throw outOfOrder(frame, last.frame);
  if (isAnswered(request, last)) return { kind: 'replay' };
  throw new IntersticeError('FRAME_CONFLICT', `Frame ${frame} has already been answered for a different payload.`, {
    frame,
  });
}

/** The session must be at the frame from which a step says that it continues. @throws FRAME_LOST, FRAME_CONFLICT */
export function checkPlace({ afterFrame }: StepRequest, { frame }: LastStep): void {
  if (afterFrame === undefined || afterFrame === frame) return;
  const where = `The session is at frame ${frame}, but the step continues from frame ${afterFrame}.`;
  if (frame < afterFrame) throw new IntersticeError('FRAME_LOST', where, { frame });
  throw new IntersticeError('FRAME_CONFLICT', where, {
    frame,
    hint: 'The session has accepted steps after that frame. Create the session again from your mesh and your last answer.',
  });
}

function isAnswered(request: StepRequest, { request: known, digest }: LastStep): boolean {
  if (known) return isSamePayload(request, known);
  return digest !== undefined && digestOf(request) === digest;
}

/** Whether the verdict on this frame is certain, whatever happens to the pending steps. */
export function isSettled(frame: bigint | undefined, last: LastStep): boolean {
  return frame !== undefined && frame <= last.frame;
}

/**
 * Whether a new step is a retry of a pending one.
 *
 * @param pending its frame is the requested one, or the one that it got when it started
 * @param last the last accepted step
 * @throws FRAME_CONFLICT
 */
export function isRetryOf(
  request: StepRequest,
  pending: { readonly frame: bigint | undefined; readonly request: StepRequest },
  last: LastStep,
): boolean {
  if (request.frame === undefined || request.frame !== pending.frame) return false;
  if (isSamePayload(request, pending.request)) return true;
  throw new IntersticeError(
    'FRAME_CONFLICT',
    `Frame ${request.frame} is already being computed for a different payload.`,
    { frame: last.frame, hint: 'Wait for the answer of the other step, or use a new frame.' },
  );
}

function outOfOrder(frame: bigint, last: bigint): IntersticeError {
  return new IntersticeError(
    'FRAME_OUT_OF_ORDER',
    frame === 0n
      ? 'Frame 0 is the state with which the session was created; steps count from 1.'
      : `Frame ${frame} is smaller than the last accepted frame, ${last}.`,
    { frame: last },
  );
}
