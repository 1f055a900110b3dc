import { readdirSync, readFileSync } from 'node:fs';
import type { Quality } from '../../src/contract/parameters.js';
import { ServerProcess } from '../prove/server.js';
import type { ScenarioInput } from './scenario.js';

/** A build of the service whose steps are measured, with the quality of its sessions. */
export interface Contestant {
  readonly name: string;
  readonly server: ServerProcess;
  /** undefined = the default of the server, because an older build may have no other */
  readonly quality: Quality | undefined;
}

/**
 * Starts the other build, if one is named, and passes both to `measure`: they run side by side, so that their
 * measurements alternate and other work of the machine affects both.
 */
export async function withContestants<T>(
  { settings, server }: ScenarioInput,
  measure: (contestants: readonly Contestant[]) => Promise<T>,
): Promise<T> {
  const { against, engine, quality: qualities } = settings;
  const own = qualities.map((quality) => ({ name: `this build, ${quality}`, server, quality }));
  if (against === undefined) return measure(own);
  const other = await ServerProcess.start({ engine, build: against });
  try {
    return await measure([{ name: 'other build', server: other, quality: undefined }, ...own]);
  } finally {
    await other.stop();
  }
}

/** Ticks per second of the processor time in /proc. */
const TICKS = 100;

/** Processor time of all threads of a process, user and system, ms; undefined if there is no /proc. */
export function processorMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in brackets, may contain anything; the third field follows it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
  } catch {
    return undefined;
  }
}

/**
 * How long the threads of a process have been ready and waited for a core, ms, over all of them; undefined if /proc
 * does not state it. Together with the processor time it distinguishes a machine with other work from a service that
 * waits for itself.
 */
export function waitingMs(pid: number): number | undefined {
  try {
    let nanoseconds = 0;
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      // Time on a core, time waiting for one (both ns), and the number of time slices.
      const [, waited] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
      nanoseconds += Number(waited);
    }
    return nanoseconds / 1e6;
  } catch {
    return undefined;
  }
}

/**
 * Ratios of rates by round. Turns of one round are neighbours in time, so most other work of the machine affects both;
 * medians over all rounds may compare a busy minute with a quiet one.
 */
export const ratiosByRound = (own: readonly number[], other: readonly number[]): number[] =>
  own.map((rate, round) => rate / other[round]!);

export const median = (values: readonly number[]): number =>
  Float64Array.from(values).sort()[values.length >> 1] ?? Number.NaN;
