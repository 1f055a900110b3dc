/**
 * deploy/test.mjs loads it into every test file with its own process: when the file ends, it reports the processor
 * time. It also makes comparisons cheap (deploy/test-compare.mjs). A process that a test forks inherits this module, but
 * has another parent.
 */
import { readFileSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Ticks of /proc/PID/stat per second: a constant of Linux, however the kernel was built. */
const TICKS_PER_SECOND = 100;

/** Time of children, which only Linux reports. @returns seconds */
function ofChildren() {
  try {
    // The name of the program, in parentheses, may contain spaces; fields 16 and 17 are cutime and cstime, and the rest
    // starts with field 3.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

/** Processor time of this process so far, with all threads and awaited programs. @returns seconds */
export function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + ofChildren();
}

if (isMainThread && process.ppid === Number(process.env.TEST_RUNNER)) {
  process.once('exit', () => writeSync(3, String(processorTime())));
  await import('./test-compare.mjs');
}
