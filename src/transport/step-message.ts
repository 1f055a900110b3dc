import { IntersticeError } from '../contract/errors.js';
import type { PartTarget, StepRequest } from '../contract/sessions.js';
import {
  required,
  toFlags,
  toInclude,
  toMasses,
  toOnBudget,
  toParameters,
  toPositions,
  toPriority,
  toSeconds,
  toSessionId,
  withSet,
} from './fields.js';
import type { WireMessage } from './json/wire.js';

/** Where a step came in. */
export interface StepOrigin {
  /** from the path, or from an earlier message of the stream; the message may repeat it */
  readonly sessionId?: string | undefined;
  /** on a stream, which alone can carry progress; default false */
  readonly takesProgress?: boolean;
}

/**
 * @throws MALFORMED_BODY (no session, a part without a target, both kinds of target), SIZE_MISMATCH, INVALID_PARAMETER
 *   (an unknown enum value, progress outside a stream, another session than that of the origin)
 */
export function toStepRequest(message: WireMessage, origin: StepOrigin = {}): StepRequest {
  const { target, start } = message;
  const parts = (message.partTargets ?? []) as readonly WireMessage[];
  if (target && parts.length > 0) {
    throw new IntersticeError('MALFORMED_BODY', 'target and partTargets exclude each other; give one of them.');
  }
  return withSet<StepRequest>({
    sessionId: toSessionId(message.sessionId, origin.sessionId),
    frame: message.frame === undefined || message.frame === null ? undefined : BigInt(message.frame as bigint),
    target: target ? toPositions(target as WireMessage, 'target') : undefined,
    partTargets: parts.length > 0 ? parts.map(toPartTarget) : undefined,
    start: start ? toPositions(start as WireMessage, 'start') : undefined,
    kinematic: toFlags(message.kinematic, 'kinematic'),
    masses: toMasses(message.masses, 'masses'),
    override: message.override ? toParameters(message.override, 'override') : undefined,
    include: toInclude(message.include, 'include', origin.takesProgress),
    timeBudgetSeconds: toSeconds(message.timeBudget),
    onBudget: toOnBudget(message.onBudget, 'onBudget'),
    priority: toPriority(message.priority, 'priority'),
  });
}

function toPartTarget(value: WireMessage, index: number): PartTarget {
  const path = `partTargets[${index}]`;
  return {
    part: typeof value.part === 'string' ? value.part : '',
    target: toPositions(required(value.target, `${path}.target`), `${path}.target`),
  };
}

/** Whether a message of a stream asks for progress; {@link toStepRequest} says whether it may. */
export function wantsProgress(message: WireMessage): boolean {
  return (message.include as WireMessage | null | undefined)?.progress === true;
}
