import { getPriority, setPriority } from 'node:os';

/**
 * On the scale of `nice`. When cores are short, a thread this far down gets a tenth of the time of an ordinary thread, and all
 * time that others do not use.
 */
const NICE_STEPS = 10;
const MAX_NICE = 19;

/**
 * Gives ordinary threads priority over this thread and the threads that it starts. It works on Linux only: elsewhere the
 * priority is that of the whole process.
 */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, Math.min(MAX_NICE, getPriority(0) + NICE_STEPS));
  } catch (thrown) {
    // The answers are not affected, only the order in which threads compute.
    process.emitWarning(`Large meshes are processed at the priority of small ones: ${thrown}`, {
      code: 'INTERSTICE_PRIORITY',
    });
  }
}
