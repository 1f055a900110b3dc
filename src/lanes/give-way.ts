import { getPriority, setPriority } from 'node:os';

/**
 * Steps on the scale of `nice`. Where cores are short a thread this far down gets a tenth of what an ordinary one gets, and all
 * that others leave.
 */
const STEPS = 10;
const LOWEST = 19;

/**
 * Lets every ordinary thread go before this one, from now on and for threads that it starts. On Linux only: elsewhere the
 * number is that of the whole process.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, Math.min(LOWEST, getPriority(0) + STEPS));
  } catch (thrown) {
    // Nothing is wrong with what is computed, only with who waits for it.
    process.emitWarning(`large meshes are worked on at the priority of small ones: ${thrown}`, {
      code: 'INTERSTICE_PRIORITY',
    });
  }
}
