/**
 * Loaded into every test file that has a process of its own by deploy/test.mjs: when the file ends, tells the processor time that it took. A
 * process that a test forks inherits this module, and has another parent.
 */
import { readFileSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Of /proc/PID/stat, in hundredths of a second: a constant of Linux, whatever the kernel is built with. */
const TICKS_PER_SECOND = 100;

/** Linux alone tells what children took. @returns seconds */
function ofChildren() {
  try {
    // The name of the program, in parentheses, may contain spaces; fields 16 and 17 are cutime and cstime, and the rest starts with field 3.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

/** What this process took so far, in all threads and in the programs that it started and waited for. @returns seconds */
export function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + ofChildren();
}

if (isMainThread && process.ppid === Number(process.env.TEST_RUNNER)) {
  process.once('exit', () => writeSync(3, String(processorTime())));
}
