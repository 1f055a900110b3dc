import type { DiagnoseRequest } from '../contract/diagnosis.js';
import { IntersticeError } from '../contract/errors.js';
import {
  type JobQuestion,
  MAX_JOB_KEEP_SECONDS,
  MAX_JOB_WAIT_SECONDS,
  type SubmitJobRequest,
} from '../contract/long-jobs.js';
import type { MeshInput } from '../contract/mesh.js';
import type { MeshCheckRequest, ResolveRequest, SessionCheckRequest } from '../contract/requests.js';
import type { Limits } from '../contract/server-info.js';
import {
  type CreateSessionRequest,
  MAX_IDLE_TIMEOUT_SECONDS,
  MAX_NAME_CHARACTERS,
  type StepRequest,
  type UpdateSessionRequest,
} from '../contract/sessions.js';
import type { UntangleRequest } from '../contract/untangle.js';

/** Refuses requests that are too large or ask for too much time, before anything is copied, queued or computed. */
export function admitResolve(request: ResolveRequest, limits: Limits): void {
  admitMesh(request.mesh, limits);
  admitBytes(request, limits);
  admitBudget(request.timeBudgetSeconds, limits);
}

export function admitCheck(request: MeshCheckRequest, limits: Limits): void {
  admitMesh(request.mesh, limits);
  admitBytes(request, limits);
  admitBudget(request.timeBudgetSeconds, limits);
}

export function admitDiagnosis(request: DiagnoseRequest, limits: Limits): void {
  admitMesh(request.mesh, limits);
  admitBytes(request, limits);
  admitBudget(request.timeBudgetSeconds, limits);
}

export function admitUntangling(request: UntangleRequest, limits: Limits): void {
  admitMesh(request.mesh, limits);
  admitBytes(request, limits);
  admitBudget(request.timeBudgetSeconds, limits);
}

export function admitCreation(request: CreateSessionRequest, limits: Limits): void {
  admitMesh(request.mesh, limits);
  admitBytes(request, limits);
  admitName('label', request.label);
  admitName('idempotencyKey', request.idempotencyKey);
  admitIdleTimeout(request.idleTimeoutSeconds);
  admitBudget(request.timeBudgetSeconds, limits);
  if (request.untangle === undefined || request.parameters.onIntersectingStart === 'UNTANGLE') return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    'Field untangle is set, but parameters.onIntersectingStart is not UNTANGLE.',
    {
      hint: 'Set parameters.onIntersectingStart to UNTANGLE, or leave untangle unset.',
    },
  );
}

export function admitJob(request: SubmitJobRequest, limits: Limits): void {
  if (request.step) admitStep(request.step, limits);
  else if (request.untangle) admitUntangling(request.untangle, limits);
  else admitResolve(request.resolve, limits);
  admitName('label', request.label);
  admitName('idempotencyKey', request.idempotencyKey);
  admitRange('keepFor', request.keepForSeconds, MAX_JOB_KEEP_SECONDS, false);
}

export function admitWait({ waitSeconds }: JobQuestion): void {
  admitRange('wait', waitSeconds, MAX_JOB_WAIT_SECONDS, true);
}

function admitRange(name: string, seconds: number | undefined, most: number, mayBeZero: boolean): void {
  if (seconds === undefined || (seconds <= most && (seconds > 0 || (mayBeZero && seconds === 0)))) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `Field ${name} is ${seconds} s; it must be ${mayBeZero ? 'at least 0' : 'more than 0'} and at most ${most} s.`,
  );
}

export function admitUpdate(request: UpdateSessionRequest): void {
  admitName('label', request.label);
  admitIdleTimeout(request.idleTimeoutSeconds);
}

export function admitStep(request: StepRequest, limits: Limits): void {
  admitBytes(request, limits);
  admitBudget(request.timeBudgetSeconds, limits);
}

export function admitSessionCheck(request: SessionCheckRequest, limits: Limits): void {
  admitBytes(request, limits);
  admitBudget(request.timeBudgetSeconds, limits);
}

function admitName(name: string, value = ''): void {
  const length = [...value].length;
  if (length <= MAX_NAME_CHARACTERS) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `Field ${name} has ${length} characters; it must have at most ${MAX_NAME_CHARACTERS}.`,
  );
}

function admitIdleTimeout(seconds: number | undefined): void {
  if (seconds === undefined || (seconds >= 0 && seconds <= MAX_IDLE_TIMEOUT_SECONDS)) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `Field idleTimeout is ${seconds} s; it must be from 0 (until deleted) to ${MAX_IDLE_TIMEOUT_SECONDS} s.`,
  );
}

function admitMesh(mesh: MeshInput, limits: Limits): void {
  refuseAbove('vertices', mesh.vertexCount, limits.maxVertices);
  const elements =
    lengthOf(mesh.triangles) / 3 +
    lengthOf(mesh.segments) / 2 +
    lengthOf(mesh.particles) +
    lengthOf(mesh.tetrahedra) / 4;
  refuseAbove('elements', Math.ceil(elements), limits.maxElements);
}

function admitBytes(request: object, limits: Limits): void {
  refuseAbove('bytes', bulkBytesOf(request), limits.maxMessageBytes);
}

function admitBudget(seconds: number | undefined, { maxTimeBudgetSeconds: limit }: Limits): void {
  if (seconds === undefined || (seconds > 0 && seconds <= limit)) return;
  const hint = 'INTERSTICE_MAX_TIME_BUDGET_SECONDS sets the largest one, where the request is computed.';
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `Field timeBudget is ${seconds} s; it must be greater than 0 and at most ${limit} s.`,
    seconds > limit ? { hint } : {},
  );
}

function refuseAbove(what: keyof typeof SETTING_OF, demand: number, limit: number): void {
  if (demand > limit) {
    throw new IntersticeError('TOO_LARGE', `The request has ${demand} ${what}; the limit is ${limit}.`, {
      hint: `Send less, or raise ${SETTING_OF[what]} where the request is computed.`,
    });
  }
}

const SETTING_OF = {
  vertices: 'INTERSTICE_MAX_VERTICES',
  elements: 'INTERSTICE_MAX_ELEMENTS',
  bytes: 'INTERSTICE_MAX_MESSAGE_BYTES',
};

function lengthOf(array: Uint32Array | undefined): number {
  return array?.length ?? 0;
}

/** The bytes of all arrays: the size of a message, independent of its encoding. */
function bulkBytesOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + bulkBytesOf(part), 0);
}
