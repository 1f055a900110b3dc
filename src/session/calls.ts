import type { CallContext } from '../contract/call-context.js';
import type { Priority } from '../contract/requests.js';
import type { Claim } from '../lanes/claim.js';
import { toMonotonicMs } from '../lanes/clock.js';
import type { SessionClock } from './clock.js';

/** One call as the session room sees it: who, since when, until when. */
export interface Call {
  readonly context: CallContext;
  readonly tenant: string;
  /** ms of the monotonic clock: the first byte of the request */
  readonly receivedAt: number;
  /** it was decoded, and stands in the queue from now on */
  readonly queuedAt: number;
}

/** Whom everybody is in a service without keys. */
export const DEFAULT_TENANT = 'default';

const RANK: readonly Priority[] = ['BATCH', 'NORMAL', 'INTERACTIVE'];

export function startCall(context: CallContext, clock: SessionClock): Call {
  const queuedAt = clock.monotonicMs();
  return {
    context,
    tenant: context.caller?.tenant ?? DEFAULT_TENANT,
    queuedAt,
    receivedAt: context.receivedAt === undefined ? queuedAt : toMonotonicMs(context.receivedAt),
  };
}

/** ms of the monotonic clock; undefined = no budget */
export function expiryOf({ receivedAt }: Call, timeBudgetSeconds: number | undefined): number | undefined {
  return timeBudgetSeconds === undefined ? undefined : receivedAt + timeBudgetSeconds * 1000;
}

/** @param expiresAt ms of the monotonic clock; undefined = never */
export function isOver(expiresAt: number | undefined, clock: SessionClock): boolean {
  return expiresAt !== undefined && clock.monotonicMs() >= expiresAt;
}

/** @param session the scene key of the session whose steps keep their order */
export function claimOf({ context, tenant }: Call, asked: Priority = 'NORMAL', session?: number): Claim {
  const most = context.caller?.maxPriority ?? 'INTERACTIVE';
  const priority = RANK.indexOf(asked) > RANK.indexOf(most) ? most : asked;
  return { tenant, priority, ...(session === undefined ? {} : { session }) };
}
