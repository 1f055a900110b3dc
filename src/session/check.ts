import type { DiagnoseRequest, Diagnosis } from '../contract/diagnosis.js';
import type { CheckAnswer, MeshCheckRequest } from '../contract/requests.js';
import type { Limits } from '../contract/server-info.js';
import type { Scheduler } from '../lanes/scheduler.js';
import { type Call, claimOf, expiryOf, type SessionClock, withBudget } from './call.js';
import { SharedWork } from './shared-work.js';

export interface CheckServices {
  readonly scheduler: Pick<Scheduler, 'check'>;
  readonly clock: SessionClock;
  readonly limits: Limits;
}

/**
 * A check that has been admitted. It has nothing to return before its end, so its caller is refused when its time is over,
 * whether it waits or runs; the lane then stops in the middle of it.
 *
 * @param waitingBytes bytes that the request keeps while it waits; undefined = those of its arrays
 * @throws what the job refuses, QUEUE_FULL, CANCELLED, DEADLINE_EXCEEDED
 */
export async function check(
  asked: MeshCheckRequest,
  call: Call,
  { scheduler, clock, limits }: CheckServices,
  waitingBytes?: number,
): Promise<CheckAnswer> {
  const { timeBudgetSeconds, ...request } = withBudget(asked, limits);
  const work = new SharedWork<CheckAnswer>(clock);
  const end = work.join({ context: call.context, expiresAt: expiryOf(call, timeBudgetSeconds) });
  const hooks = { signal: work.signal, claim: claimOf(call), ...(waitingBytes === undefined ? {} : { waitingBytes }) };
  scheduler.check(request, hooks).then(
    (answer) => work.succeed(answer),
    (reason: unknown) => work.fail(reason),
  );
  return (await end).value;
}

export interface DiagnoseServices extends Omit<CheckServices, 'scheduler'> {
  readonly scheduler: Pick<Scheduler, 'diagnose'>;
}

/** A diagnosis that has been admitted; it ends like a {@link check}. @throws like {@link check} */
export async function diagnose(
  asked: DiagnoseRequest,
  call: Call,
  { scheduler, clock, limits }: DiagnoseServices,
): Promise<Diagnosis> {
  const { timeBudgetSeconds, ...request } = withBudget(asked, limits);
  const work = new SharedWork<Diagnosis>(clock);
  const end = work.join({ context: call.context, expiresAt: expiryOf(call, timeBudgetSeconds) });
  scheduler.diagnose(request, { signal: work.signal, claim: claimOf(call) }).then(
    (answer) => work.succeed(answer),
    (reason: unknown) => work.fail(reason),
  );
  return (await end).value;
}
