import type { CallContext } from '../contract/call-context.js';
import type { Priority } from '../contract/requests.js';
import type { Limits } from '../contract/server-info.js';
import { toMonotonicMs } from '../jobs/clock.js';
import type { Claim } from '../lanes/fair-queue.js';

/** The clocks and timers of `src/session`. Tests replace them with a clock of their own. */
export interface SessionClock {
  /** ms since 1970: what callers are shown */
  wallMs(): number;
  /** ms of the monotonic clock that all threads share (src/jobs/clock.ts): measures idle times and time budgets */
  monotonicMs(): number;
  /** Calls back once, after at least `ms`; never keeps the process alive. @returns a function that cancels the timer */
  after(ms: number, callback: () => void): () => void;
}

/** The largest delay of setTimeout; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function realClock(monotonicMs: () => number): SessionClock {
  return {
    wallMs: Date.now,
    monotonicMs,
    after(ms, callback) {
      // A longer delay fires early: whoever asks for one compares with the clock before it acts.
      const timer = setTimeout(callback, Math.min(Math.max(0, ms), MAX_TIMER_MS)).unref();
      return () => clearTimeout(timer);
    },
  };
}

/** One call of an operation: who made it, and when. */
export interface Call {
  readonly context: CallContext;
  readonly tenant: string;
  /** ms of the monotonic clock, when the first byte of the request arrived; time budgets count from here */
  readonly receivedAt: number;
  /** ms of the monotonic clock, when the request was decoded; queueing times count from here */
  readonly queuedAt: number;
}

/** The tenant of unauthenticated callers. */
export const DEFAULT_TENANT = 'default';

export function startCall(context: CallContext, clock: SessionClock): Call {
  const queuedAt = clock.monotonicMs();
  return {
    context,
    tenant: context.caller?.tenant ?? DEFAULT_TENANT,
    queuedAt,
    receivedAt: context.receivedAt === undefined ? queuedAt : toMonotonicMs(context.receivedAt),
  };
}

/** The request with the server's default for a time budget that it does not set. */
export function withBudget<T extends { readonly timeBudgetSeconds?: number }>(
  request: T,
  { defaultTimeBudgetSeconds: timeBudgetSeconds }: Pick<Limits, 'defaultTimeBudgetSeconds'>,
): T {
  if (request.timeBudgetSeconds !== undefined || timeBudgetSeconds === undefined) return request;
  return { ...request, timeBudgetSeconds };
}

/** @returns ms of the monotonic clock; undefined = no deadline */
export function expiryOf({ receivedAt }: Call, timeBudgetSeconds: number | undefined): number | undefined {
  return timeBudgetSeconds === undefined ? undefined : receivedAt + timeBudgetSeconds * 1000;
}

/** @param expiresAt ms of the monotonic clock; undefined = never */
export function isExpired(expiresAt: number | undefined, clock: SessionClock): boolean {
  return expiresAt !== undefined && clock.monotonicMs() >= expiresAt;
}

const PRIORITIES: readonly Priority[] = ['BATCH', 'NORMAL', 'INTERACTIVE'];

/**
 * The claim by which the scheduler shares the lanes. The caller's key caps the priority.
 *
 * @param session the scene key of the session whose jobs keep their order
 */
export function claimOf({ context, tenant }: Call, requested: Priority = 'NORMAL', session?: number): Claim {
  const highest = context.caller?.maxPriority ?? 'INTERACTIVE';
  const priority = PRIORITIES.indexOf(requested) > PRIORITIES.indexOf(highest) ? highest : requested;
  return { tenant, priority, ...(session === undefined ? {} : { session }) };
}
