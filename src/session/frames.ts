import { IntersticeError } from '../contract/errors.js';
import type { StepRequest } from '../contract/sessions.js';
import { isSamePayload } from './payload.js';

/**
 * The order of a session's steps. A step is judged as if the steps had come one after the other: against the last
 * accepted frame at the moment when its turn comes. A step that still waits or runs may yet fail, and what failed must not
 * have refused another. Two verdicts are given at once, because nothing that is under way can change them: a frame that is
 * not greater than the last accepted one (which only grows), and a frame that is already under way.
 */

/** The last accepted step of a session. */
export interface LastStep {
  /** 0n: none yet */
  readonly frame: bigint;
  /** absent while there is none */
  readonly request?: StepRequest | undefined;
}

export type Verdict = { readonly kind: 'accept'; readonly frame: bigint } | { readonly kind: 'replay' };

/** uint64 in the contract */
const LARGEST_FRAME = 2n ** 64n - 1n;

/** @throws INVALID_PARAMETER for a number that is no frame at all */
export function checkFrame(frame: bigint | undefined): void {
  if (frame === undefined || (frame >= 0n && frame <= LARGEST_FRAME)) return;
  throw new IntersticeError('INVALID_PARAMETER', `frame is ${frame}; it must be a whole number from 1 to 2^64 - 1`);
}

/**
 * Unset → last + 1. Greater than last → accepted, gaps allowed. Equal, with the same payload → the stored answer.
 *
 * @throws FRAME_OUT_OF_ORDER, FRAME_CONFLICT; INVALID_PARAMETER when there is no frame left
 */
export function judgeFrame(request: StepRequest, last: LastStep): Verdict {
  const { frame } = request;
  if (frame === undefined) {
    if (last.frame < LARGEST_FRAME) return { kind: 'accept', frame: last.frame + 1n };
    throw new IntersticeError('INVALID_PARAMETER', `frame ${last.frame} was the last that there is`, {
      hint: 'Create another session from your mesh and last answer.',
    });
  }
  if (frame > last.frame) return { kind: 'accept', frame };
  if (frame < last.frame || frame === 0n) throw outOfOrder(frame, last.frame);
  if (last.request && isSamePayload(request, last.request)) return { kind: 'replay' };
  throw new IntersticeError('FRAME_CONFLICT', `frame ${frame} was answered already, for another payload`);
}

/** Whether the verdict on this frame is certain whatever becomes of the steps under way. */
export function isSettled(frame: bigint | undefined, last: LastStep): boolean {
  return frame !== undefined && frame <= last.frame;
}

/**
 * Whether a step that arrives is the same as one that waits or runs.
 *
 * @param frame of the one under way: the one it asked for, or was given when it started
 * @throws FRAME_CONFLICT
 */
export function isRetryOf(
  request: StepRequest,
  underWay: { frame: bigint | undefined; request: StepRequest },
): boolean {
  if (request.frame === undefined || request.frame !== underWay.frame) return false;
  if (isSamePayload(request, underWay.request)) return true;
  throw new IntersticeError('FRAME_CONFLICT', `frame ${request.frame} is being computed already, for another payload`);
}

function outOfOrder(frame: bigint, last: bigint): IntersticeError {
  return new IntersticeError(
    'FRAME_OUT_OF_ORDER',
    frame === 0n
      ? 'frame 0 is the state that the session was opened with; steps count from 1'
      : `frame ${frame} is smaller than the last accepted one, ${last}`,
  );
}
