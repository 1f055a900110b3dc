import { RETRY_DEFAULTS, type RetryOptions, type RetryPolicy } from './retry.js';

/* What this client refuses to be told. The clients in Python and C++ refuse the same values, in the same words. */

/**
 * s that a caller may set anywhere, 24 days: a timer of JavaScript holds milliseconds in 31 bits and would end at once
 * beyond them, as sockets and gRPC of the other clients would.
 */
const LONGEST_SECONDS = 2_147_483;

/** @returns the same number. @throws TypeError unless it is more than 0 and no longer than a timer */
export function timeOf(name: string, seconds: number): number {
  if (seconds > 0 && seconds <= LONGEST_SECONDS) return seconds;
  throw new TypeError(`${name} is ${seconds}; more than 0 and at most ${LONGEST_SECONDS} s are possible.`);
}

/** The same from 0 on. */
export function checkPause(name: string, time: number, unit: 's' | 'ms' = 's'): void {
  const longest = unit === 's' ? LONGEST_SECONDS : LONGEST_SECONDS * 1000;
  if (!(time >= 0 && time <= longest))
    throw new TypeError(`${name} is ${time}; from 0 to ${longest} ${unit} are possible.`);
}

/** A time that is added to others: any number from 0. */
export function allowanceOf(name: string, seconds: number): number {
  if (seconds >= 0) return seconds;
  throw new TypeError(`${name} is ${seconds}, expected a number of seconds from 0.`);
}

/** @throws TypeError */
export function policyOf(options: RetryOptions = {}): RetryPolicy {
  const policy = { ...RETRY_DEFAULTS, ...options };
  if (!(Number.isInteger(policy.attempts) && policy.attempts >= 1))
    throw new TypeError(`retry.attempts is ${policy.attempts}, expected a whole number from 1.`);
  checkPause('retry.firstPauseMs', policy.firstPauseMs, 'ms');
  checkPause('retry.longestPauseMs', policy.longestPauseMs, 'ms');
  checkPause('retry.longestRetryAfterSeconds', policy.longestRetryAfterSeconds);
  return policy;
}

/** @returns the address without slashes at its end. @throws TypeError */
export function baseOf(url: string): string {
  const parts = /^https?:\/\//.test(url) ? partsOf(url) : undefined;
  if (parts?.username || parts?.password)
    throw new TypeError('An address has no user name and no password. The key of a service is the option apiKey.');
  if (!parts || /[?#]/.test(url)) throw new TypeError(`${url} is not an address of the form http://host:port.`);
  return url.replace(/\/+$/, '');
}

function partsOf(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** @returns the headers of a key; none if it is empty. @throws TypeError, which does not repeat the key */
export function authorizationOf(apiKey = ''): Readonly<Record<string, string>> {
  if (apiKey === '') return {};
  // What every service accepts and every header can hold: not the line break after a key that was read from a file.
  if (/^[!-~]+$/.test(apiKey)) return { authorization: `Bearer ${apiKey}` };
  throw new TypeError('apiKey has spaces, line breaks or letters beyond ASCII, which no key of a service has.');
}
