import { readFileSync } from 'node:fs';

/**
 * How long this thread has been ready to run and had no core, since it began: the second figure of its scheduler statistics,
 * nanoseconds.
 *
 * @returns ms; undefined where the system does not say (anywhere but on Linux)
 */
export function coreWaitMs(): number | undefined {
  try {
    const waited = Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]);
    return Number.isFinite(waited) ? waited / 1e6 : undefined;
  } catch {
    return undefined;
  }
}
