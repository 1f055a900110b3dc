import { readdirSync, readFileSync } from 'node:fs';

const TASKS = '/proc/self/task';

/**
 * Processor time of each thread of this process, milliseconds by its id; empty if the system does not provide it (Linux
 * does).
 */
export function readThreadTimes(): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const id of listTasks()) {
    try {
      times.set(id, Number(readFileSync(`${TASKS}/${id}/schedstat`, 'latin1').split(' ')[0]) / 1e6);
    } catch {
      // The thread has ended in the meantime.
    }
  }
  return times;
}

function listTasks(): string[] {
  try {
    return readdirSync(TASKS);
  } catch {
    return [];
  }
}

/**
 * Time that the busiest thread has used since then, milliseconds: about the time of the work on an otherwise idle
 * machine, except for the time in which threads wait for each other. NaN = not known.
 */
export function busiestSince(before: ReadonlyMap<string, number>): number {
  const used = [...readThreadTimes()].map(([id, time]) => time - (before.get(id) ?? 0));
  return used.length > 0 ? Math.max(...used) : Number.NaN;
}
