import { getPriority, setPriority } from 'node:os';

const MAX_NICE = 19;

/**
 * Gives other threads priority over this thread and the threads that it starts. It works only on Linux: elsewhere the
 * priority belongs to the whole process.
 *
 * @param niceSteps on the scale of `nice`, where each step costs a fifth: when cores are short, a thread ten steps down gets a
 *   tenth of the time of an ordinary one, fifteen steps a thirtieth, and always all time that others do not use
 */
export function lowerPriority(niceSteps: number): void {
  if (process.platform !== 'linux' || niceSteps === 0) return;
  try {
    setPriority(0, Math.min(MAX_NICE, getPriority(0) + niceSteps));
  } catch (thrown) {
    // The answers are not affected, only the order in which threads compute.
    process.emitWarning(`Large meshes and batch work run at the same priority as small work: ${thrown}`, {
      code: 'INTERSTICE_PRIORITY',
    });
  }
}
