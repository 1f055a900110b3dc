import { readFileSync } from 'node:fs';

/**
 * The time for which this thread has been ready to run without a core, since it began: the second figure of its
 * scheduler statistics, in nanoseconds.
 *
 * @returns ms; undefined if the system does not report it (anywhere but on Linux)
 */
export function coreWaitMs(): number | undefined {
  try {
    const waited = Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]);
    return Number.isFinite(waited) ? waited / 1e6 : undefined;
  } catch {
    return undefined;
  }
}
