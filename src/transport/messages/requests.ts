import type { DiagnoseRequest } from '../../contract/diagnosis.js';
import { IntersticeError } from '../../contract/errors.js';
import type { CheckQuestion, CheckRequest, ResolveRequest } from '../../contract/requests.js';
import type {
  CreateSessionRequest,
  ListSessionsRequest,
  PartTarget,
  StepRequest,
  UpdateSessionRequest,
} from '../../contract/sessions.js';
import {
  fieldsOf,
  number,
  text,
  toFlags,
  toInclude,
  toKinematicPairs,
  toMasses,
  toMesh,
  toOnBudget,
  toParameters,
  toPositions,
  toPriority,
  toRequiredPositions,
  toSeconds,
  toSessionId,
  withSet,
} from './fields.js';
import { toUntangleOptions } from './untangle.js';
import type { WireMessage } from './wire-message.js';

/** Converts request messages of the contract into the requests of the operations. */

/** The origin of a request. */
export interface RequestOrigin {
  /** The session that the HTTP path or an earlier message of the stream names; the message may repeat it. */
  readonly sessionId?: string | undefined;
  /** The job that the HTTP path names; the message may repeat it. */
  readonly jobId?: string | undefined;
  /** Where the message is in the one that was sent, for error messages. Default: it is that one. */
  readonly path?: string;
  /** Whether the answer is a stream, which alone can send progress. Default false. */
  readonly takesProgress?: boolean;
}

/** @throws MALFORMED_BODY (mesh, start or target missing), SIZE_MISMATCH, INVALID_PARAMETER, UNIMPLEMENTED */
export function toResolveRequest(message: WireMessage, origin: RequestOrigin = {}): ResolveRequest {
  const field = fieldsOf(origin.path ?? '');
  return withSet<ResolveRequest>({
    parameters: toParameters(message.parameters, field('parameters')),
    ...toComputeOptions(message, origin),
    mesh: toMesh(message.mesh, field('mesh')),
    start: toRequiredPositions(message.start, field('start')),
    target: toRequiredPositions(message.target, field('target')),
  });
}

/** @throws MALFORMED_BODY (no subject, or a mesh without positions), SIZE_MISMATCH, INVALID_PARAMETER, UNIMPLEMENTED */
export function toCheckRequest(message: WireMessage): CheckRequest {
  const question = withSet<CheckQuestion>({
    pathEnd: toOptionalPositions(message.pathEnd, 'pathEnd'),
    reportPairsCloserThan: number(message.reportPairsCloserThan),
    maxPairs: number(message.maxPairs),
    kinematicPairs: toKinematicPairs(message.kinematicPairs, 'kinematicPairs'),
    timeBudgetSeconds: toSeconds(message.timeBudget),
  });
  const sessionId = text(message.sessionId);
  if (sessionId !== undefined) {
    const positions = toOptionalPositions(message.positions, 'positions');
    return { sessionId, ...(positions ? { positions } : {}), ...question };
  }
  if (!message.mesh) {
    throw new IntersticeError('MALFORMED_BODY', 'mesh is missing, and so is sessionId.', {
      hint: 'Set mesh and positions, or sessionId; see /docs.',
    });
  }
  return {
    mesh: toMesh(message.mesh, 'mesh'),
    positions: toRequiredPositions(message.positions, 'positions'),
    ...question,
  };
}

/** @throws MALFORMED_BODY (mesh or positions missing), SIZE_MISMATCH, INVALID_PARAMETER */
export function toDiagnoseRequest(message: WireMessage): DiagnoseRequest {
  return withSet<DiagnoseRequest>({
    mesh: toMesh(message.mesh, 'mesh'),
    positions: toRequiredPositions(message.positions, 'positions'),
    target: toOptionalPositions(message.target, 'target'),
    parameters: message.parameters ? toParameters(message.parameters, 'parameters') : undefined,
    maxElements: number(message.maxElements),
    timeBudgetSeconds: toSeconds(message.timeBudget),
  });
}

const toOptionalPositions = (value: unknown, name: string) =>
  value ? toPositions(value as WireMessage, name) : undefined;

/** @throws MALFORMED_BODY (mesh or start missing), SIZE_MISMATCH, INVALID_PARAMETER, UNIMPLEMENTED */
export function toCreateSessionRequest(message: WireMessage): CreateSessionRequest {
  return withSet<CreateSessionRequest>({
    mesh: toMesh(message.mesh, 'mesh'),
    start: toRequiredPositions(message.start, 'start'),
    parameters: toParameters(message.parameters, 'parameters'),
    label: text(message.label),
    idleTimeoutSeconds: toSeconds(message.idleTimeout),
    idempotencyKey: text(message.idempotencyKey),
    timeBudgetSeconds: toSeconds(message.timeBudget),
    untangle: toUntangleOptions(message.untangle, 'untangle'),
  });
}

/** @throws MALFORMED_BODY (no session), INVALID_PARAMETER */
export function toUpdateSessionRequest(message: WireMessage, origin: RequestOrigin = {}): UpdateSessionRequest {
  return withSet<UpdateSessionRequest>({
    sessionId: toSessionId(message.sessionId, origin.sessionId),
    parameters: message.parameters ? toParameters(message.parameters, 'parameters') : undefined,
    idleTimeoutSeconds: toSeconds(message.idleTimeout),
    // An empty label is a value here: it removes the label.
    label: typeof message.label === 'string' ? message.label : undefined,
  });
}

export function toListSessionsRequest(message: WireMessage): ListSessionsRequest {
  return withSet<ListSessionsRequest>({
    // Unset fields are 0 and "": default page size, first page, any label.
    pageSize: number(message.pageSize) || undefined,
    pageToken: text(message.pageToken),
    label: text(message.label),
  });
}

/**
 * @throws MALFORMED_BODY (no session, a part without a target, both kinds of target), SIZE_MISMATCH, INVALID_PARAMETER
 *   (unknown enum value, progress outside a stream, a session that differs from the origin's)
 */
export function toStepRequest(message: WireMessage, origin: RequestOrigin = {}): StepRequest {
  const { target, start } = message;
  const field = fieldsOf(origin.path ?? '');
  const parts = (message.partTargets ?? []) as readonly WireMessage[];
  if (target && parts.length > 0) {
    throw new IntersticeError(
      'MALFORMED_BODY',
      `${field('target')} and ${field('partTargets')} are mutually exclusive. Set one of them.`,
    );
  }
  return withSet<StepRequest>({
    sessionId: toSessionId(message.sessionId, origin.sessionId, origin.path),
    frame: toFrame(message.frame),
    afterFrame: toFrame(message.afterFrame),
    target: target ? toPositions(target as WireMessage, field('target')) : undefined,
    partTargets:
      parts.length > 0
        ? parts.map((part, index) => toPartTarget(part, `${field('partTargets')}[${index}]`))
        : undefined,
    start: start ? toPositions(start as WireMessage, field('start')) : undefined,
    kinematic: toFlags(message.kinematic, field('kinematic')),
    masses: toMasses(message.masses, field('masses')),
    override: message.override ? toParameters(message.override, field('override')) : undefined,
    ...toComputeOptions(message, origin),
  });
}

const toFrame = (value: unknown): bigint | undefined =>
  value === undefined || value === null ? undefined : BigInt(value as bigint);

function toComputeOptions(message: WireMessage, { path = '', takesProgress }: RequestOrigin) {
  const field = fieldsOf(path);
  return {
    include: toInclude(message.include, field('include'), takesProgress),
    timeBudgetSeconds: toSeconds(message.timeBudget),
    onBudget: toOnBudget(message.onBudget, field('onBudget')),
    priority: toPriority(message.priority, field('priority')),
  };
}

function toPartTarget(value: WireMessage, path: string): PartTarget {
  return {
    part: typeof value.part === 'string' ? value.part : '',
    target: toRequiredPositions(value.target, `${path}.target`),
  };
}

/** Whether a message of a stream requests progress. */
export function wantsProgress(message: WireMessage): boolean {
  return (message.include as WireMessage | null | undefined)?.progress === true;
}
