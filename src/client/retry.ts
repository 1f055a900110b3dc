import { ServiceError } from './errors.js';

/** How a call is tried again. Only what the server calls retryable is, and what got no answer. */
export interface RetryOptions {
  /** tries of one call, the first one included; default 20 */
  readonly attempts?: number;
  /** pause after the first try, ms; each further one is twice as long; default 100 */
  readonly firstPauseMs?: number;
  /** longest pause of its own, ms; default 2000. With the other defaults a server may be away for about 25 s */
  readonly longestPauseMs?: number;
  /** a server that asks for a longer one, in seconds, is not waited for; default 30 */
  readonly longestRetryAfterSeconds?: number;
}

export type RetryPolicy = Required<RetryOptions>;

export const RETRY_DEFAULTS: RetryPolicy = {
  attempts: 20,
  firstPauseMs: 100,
  longestPauseMs: 2000,
  longestRetryAfterSeconds: 30,
};

export interface Tries {
  readonly policy: RetryPolicy;
  readonly signal?: AbortSignal | undefined;
  /** performance.now() after which there is no use in another try */
  readonly endsAt?: number | undefined;
}

/**
 * Does the work until it succeeds, fails for good, or the tries, the time or the caller's patience end.
 * @throws what the work threw last; CANCELLED when the signal ended a pause
 */
export async function persist<T>(work: () => Promise<T>, { policy, signal, endsAt = Infinity }: Tries): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof ServiceError) || !thrown.retryable || attempt >= policy.attempts) throw thrown;
      const pause = pauseAfter(attempt, thrown, policy);
      if (pause === undefined || performance.now() + pause >= endsAt) throw thrown;
      await sleep(pause, signal);
    }
  }
}

function pauseAfter(attempt: number, error: ServiceError, policy: RetryPolicy): number | undefined {
  const asked = error.retryAfterSeconds ?? 0;
  if (asked > policy.longestRetryAfterSeconds) return undefined;
  const own = Math.min(policy.longestPauseMs, policy.firstPauseMs * 2 ** (attempt - 1));
  // Half of it is left to chance, so that many clients of one server do not come back all at once.
  const jittered = own * (0.5 + Math.random() / 2);
  return asked === 0 ? jittered : asked * 1000 + (jittered * policy.firstPauseMs) / policy.longestPauseMs;
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(new ServiceError({ code: 'CANCELLED', message: 'The caller cancelled the call.', cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
