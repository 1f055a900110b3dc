import { cancelled, ServiceError } from './errors.js';

/** How calls are retried: only those that the server calls retryable or did not answer. */
export interface RetryOptions {
  /** attempts of one call, including the first; a whole number from 1, default 20 */
  readonly attempts?: number;
  /** pause after the first attempt, ms; each further pause is twice as long; default 100 */
  readonly firstPauseMs?: number;
  /** longest pause of this policy, ms; default 2000. With the other defaults a server may be down for about 25 s */
  readonly longestPauseMs?: number;
  /** a call whose server asks for a longer pause, in seconds, is not retried; default 30 */
  readonly longestRetryAfterSeconds?: number;
}

export type RetryPolicy = Required<RetryOptions>;

export const RETRY_DEFAULTS: RetryPolicy = {
  attempts: 20,
  firstPauseMs: 100,
  longestPauseMs: 2000,
  longestRetryAfterSeconds: 30,
};

export interface RetryLimits {
  readonly policy: RetryPolicy;
  readonly signal?: AbortSignal | undefined;
  /** performance.now() after which no attempt starts */
  readonly endsAt?: number | undefined;
}

/**
 * Repeats the work until it succeeds or fails with an error that is not retryable, or until the attempts or the time
 * are used up.
 * @throws the last error of the work; CANCELLED if the signal ended a pause
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  { policy, signal, endsAt = Infinity }: RetryLimits,
): Promise<T> {
  let isUncertain = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof ServiceError)) throw thrown;
      // A refusal says nothing about an earlier attempt without an answer.
      isUncertain ||= thrown.isUncertain;
      thrown.isUncertain = isUncertain;
      if (!thrown.retryable || attempt >= policy.attempts) throw thrown;
      const pause = pauseAfter(attempt, thrown, policy);
      if (pause === undefined || performance.now() + pause >= endsAt) throw thrown;
      await sleep(pause, signal, isUncertain);
    }
  }
}

function pauseAfter(attempt: number, error: ServiceError, policy: RetryPolicy): number | undefined {
  const requested = error.retryAfterSeconds ?? 0;
  if (requested > policy.longestRetryAfterSeconds) return undefined;
  const own = Math.min(policy.longestPauseMs, policy.firstPauseMs * 2 ** (attempt - 1));
  // Half of the pause is random, so that the clients of one server do not all return at once.
  const jittered = own * (0.5 + Math.random() / 2);
  return requested === 0 ? jittered : requested * 1000 + Math.random() * policy.firstPauseMs;
}

function sleep(ms: number, signal: AbortSignal | undefined, isUncertain: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(cancelled(signal?.reason, isUncertain));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
