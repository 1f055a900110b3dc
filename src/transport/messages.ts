import { IntersticeError } from '../contract/errors.js';
import type { CheckQuestion, CheckRequest, ResolveRequest } from '../contract/requests.js';
import type { CreateSessionRequest, ListSessionsRequest, UpdateSessionRequest } from '../contract/sessions.js';
import {
  number,
  required,
  text,
  toInclude,
  toKinematicPairs,
  toMesh,
  toOnBudget,
  toParameters,
  toPositions,
  toPriority,
  toSeconds,
  toSessionId,
  withSet,
} from './fields.js';
import type { WireMessage } from './json/wire.js';

/** Requests of the contract into the operations' own types; steps have a file of their own. */

export { toSessionId } from './fields.js';
export { type StepOrigin, toStepRequest, wantsProgress } from './step-message.js';

/** @throws MALFORMED_BODY (mesh, start or target missing), SIZE_MISMATCH, INVALID_PARAMETER, UNIMPLEMENTED */
export function toResolveRequest(message: WireMessage): ResolveRequest {
  return withSet<ResolveRequest>({
    parameters: toParameters(message.parameters, 'parameters'),
    include: toInclude(message.include, 'include'),
    timeBudgetSeconds: toSeconds(message.timeBudget),
    onBudget: toOnBudget(message.onBudget, 'onBudget'),
    priority: toPriority(message.priority, 'priority'),
    mesh: toMesh(required(message.mesh, 'mesh')),
    start: toPositions(required(message.start, 'start'), 'start'),
    target: toPositions(required(message.target, 'target'), 'target'),
  });
}

/** @throws MALFORMED_BODY (no subject, or a mesh without positions), SIZE_MISMATCH, INVALID_PARAMETER, UNIMPLEMENTED */
export function toCheckRequest(message: WireMessage): CheckRequest {
  const question = withSet<CheckQuestion>({
    pathEnd: toOptionalPositions(message.pathEnd, 'pathEnd'),
    reportPairsCloserThan: number(message.reportPairsCloserThan),
    maxPairs: number(message.maxPairs),
    kinematicPairs: toKinematicPairs(message.kinematicPairs, 'kinematicPairs'),
  });
  const sessionId = text(message.sessionId);
  if (sessionId !== undefined) {
    const positions = toOptionalPositions(message.positions, 'positions');
    return { sessionId, ...(positions ? { positions } : {}), ...question };
  }
  if (!message.mesh) {
    throw new IntersticeError('MALFORMED_BODY', 'mesh is missing, and so is sessionId.', {
      hint: 'Set mesh and positions, or the sessionId of a session; see /docs.',
    });
  }
  return {
    mesh: toMesh(required(message.mesh, 'mesh')),
    positions: toPositions(required(message.positions, 'positions'), 'positions'),
    ...question,
  };
}

const toOptionalPositions = (value: unknown, name: string) =>
  value ? toPositions(value as WireMessage, name) : undefined;

/** @throws MALFORMED_BODY (mesh or start missing), SIZE_MISMATCH, INVALID_PARAMETER, UNIMPLEMENTED */
export function toCreateSessionRequest(message: WireMessage): CreateSessionRequest {
  return withSet<CreateSessionRequest>({
    mesh: toMesh(required(message.mesh, 'mesh')),
    start: toPositions(required(message.start, 'start'), 'start'),
    parameters: toParameters(message.parameters, 'parameters'),
    label: text(message.label),
    idleTimeoutSeconds: toSeconds(message.idleTimeout),
    idempotencyKey: text(message.idempotencyKey),
  });
}

/** @throws MALFORMED_BODY (no session), INVALID_PARAMETER */
export function toUpdateSessionRequest(message: WireMessage, known?: string): UpdateSessionRequest {
  return withSet<UpdateSessionRequest>({
    sessionId: toSessionId(message.sessionId, known),
    parameters: message.parameters ? toParameters(message.parameters, 'parameters') : undefined,
    idleTimeoutSeconds: toSeconds(message.idleTimeout),
    // Here "" is something to set: it takes the label away.
    label: typeof message.label === 'string' ? message.label : undefined,
  });
}

export function toListSessionsRequest(message: WireMessage): ListSessionsRequest {
  return withSet<ListSessionsRequest>({
    // 0 and "" are what an unset field looks like here: the server's page size, the first page, any label.
    pageSize: number(message.pageSize) || undefined,
    pageToken: text(message.pageToken),
    label: text(message.label),
  });
}
