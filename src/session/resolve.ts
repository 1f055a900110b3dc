import { IntersticeError } from '../contract/errors.js';
import type { ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import type { Limits } from '../contract/server-info.js';
import { deadlineExceeded } from '../jobs/deadline.js';
import type { ScheduleHooks, Scheduler } from '../lanes/scheduler.js';
import { admitResolve } from './admission.js';
import { type Call, claimOf, expiryOf, isExpired, type SessionClock, withBudget } from './call.js';
import { SharedWork } from './shared-work.js';
import { RequestTrace, type TraceOptions } from './trace.js';

export interface ResolveServices {
  readonly scheduler: Pick<Scheduler, 'resolve' | 'untangle'>;
  readonly clock: SessionClock;
  readonly limits: Limits;
  readonly onFinding: ScheduleHooks['onFinding'];
  /** undefined = nothing is traced */
  readonly trace: TraceOptions | undefined;
}

/** @throws what admission and the job refuse, QUEUE_FULL, CANCELLED, DEADLINE_EXCEEDED */
export async function resolve(asked: ResolveRequest, call: Call, services: ResolveServices): Promise<ResolveAnswer> {
  const { scheduler, clock, limits, onFinding } = services;
  admitResolve(asked, limits);
  const request = withBudget(asked, limits);
  const { context, receivedAt, queuedAt } = call;
  const { mesh, parameters, timeBudgetSeconds, onBudget, priority } = request;
  const { requestId, onQueued, onStart, onProgress, onPhase, onState } = context;
  const trace = RequestTrace.open(
    { operation: 'resolve', requestId, mesh, parameters, timeBudgetSeconds, onBudget },
    services.trace,
  );
  const expiresAt = expiryOf(call, timeBudgetSeconds);
  const isHard = onBudget === 'FAIL';
  // Under FAIL the caller is refused when its time is over, whatever the lane is doing at that moment.
  const work = new SharedWork<ResolveAnswer>(clock);
  const end = work.join({ context, expiresAt: isHard ? expiresAt : undefined });
  const hooks: ScheduleHooks = {
    signal: work.signal,
    expiresAt,
    onQueued,
    onStart,
    onProgress,
    onPhase,
    onState: trace ? trace.listener(onState) : onState,
    onFinding,
    claim: claimOf(call, priority),
  };
  scheduler.resolve({ request, receivedAt, queuedAt }, hooks).then(
    (answer) => work.succeed(answer),
    (reason: unknown) => work.fail(reason),
  );
  const { value: answer } = await end;
  // The lane met the deadline, but its message may be late: this thread may have been busy.
  if (isHard && isExpired(expiresAt, clock)) throw deadlineExceeded('on the way back from the engine');
  trace?.finish(answer);
  return answer;
}

const PROBE_MESH = { vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5) };

/** The limits under which the probe is admitted, too; those of callers may be lower. */
export const withProbe = (limits: Limits): Limits => ({
  ...limits,
  maxVertices: Math.max(limits.maxVertices, PROBE_MESH.vertexCount),
  maxElements: Math.max(limits.maxElements, PROBE_MESH.triangles.length / 3),
});

/**
 * The smallest request that exercises all stages: two triangles, one above the other, where the target moves the upper
 * one through the lower one. A server is ready when a lane has answered it, verified and without an intersection.
 */
export function probeRequest(): ResolveRequest {
  const lower = [0, 0, 0, 1, 0, 0, 0, 1, 0];
  const upper = (height: number) => [0.2, 0.2, height, 1.2, 0.2, height, 0.2, 1.2, height];
  return {
    mesh: PROBE_MESH,
    start: Float32Array.of(...lower, ...upper(0.5)),
    target: Float32Array.of(...lower, ...upper(-0.5)),
    // Algorithm 1 alone: the minimum that an engine must be able to do, and the fastest.
    parameters: { verify: 'PATH', quality: 'FAST' },
  };
}

/** Every working engine keeps the upper triangle above the lower one. @throws INTERNAL for any other answer */
export function checkProbe({ positions, report }: ResolveAnswer): void {
  const isAbove = [3, 4, 5].every((v) => positions[3 * v + 2]! > Math.min(positions[2]!, positions[5]!, positions[8]!));
  const { fellBack } = report.verification;
  if (!fellBack && isAbove) return;
  const reason = fellBack ? 'the verifier refused its answer' : 'it let two triangles cross';
  throw new IntersticeError('INTERNAL', `The engine ${report.engine} failed its probe: ${reason}.`);
}

/** Bytes of device memory, and of work, that are enough for the probe: it takes less than 600,000 of either. */
export const ENOUGH_FOR_PROBE = 2 ** 20;

/** Returns a failure of the probe; where settings leave it too little memory, they are named, with a value that is enough. */
export function explainProbe(reason: unknown, maxDeviceBytes: number, maxWorkBytes: number): unknown {
  if (!(reason instanceof IntersticeError) || reason.code !== 'OUT_OF_DEVICE_MEMORY') return reason;
  const low = Object.entries({
    INTERSTICE_MAX_DEVICE_BYTES: maxDeviceBytes,
    INTERSTICE_MAX_WORK_BYTES: maxWorkBytes,
  }).filter(([, bytes]) => bytes > 0 && bytes < ENOUGH_FOR_PROBE);
  if (low.length === 0) return reason;
  const settings = low.map(([name, bytes]) => `${name}=${bytes}`).join(' and ');
  return new IntersticeError(
    'OUT_OF_DEVICE_MEMORY',
    `Not even the smallest request fits into the memory that ${settings} allows: ${reason.message}`,
    { hint: `Set ${low.map(([name]) => name).join(' and ')} to at least ${ENOUGH_FOR_PROBE}, or to 0 for no limit.` },
  );
}
