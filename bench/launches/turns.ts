import type { EntryPoint } from '../../gpu/kernels/table.js';
import type { EdgePlan } from '../../gpu/step/edge-plan.js';
import type { Launch } from './watch.js';

/** Threads of the workgroup that sweeps edges on a card with the usual limits (gpu/device/kernel.ts). */
const THREADS = 1024;

/** Kernels of one workgroup that sweep contacts in the pull-back. */
const OF_PULL_BACK: readonly EntryPoint[] = ['warmTail', 'sweepFew', 'sweepSmall'];

/** Kernels that decide at the end of a step. */
const LAST_OF_STEP: readonly EntryPoint[] = ['decide', 'decidePull'];

/** Turns of kernels of one workgroup, which run one after the other on every device. */
export interface Turns {
  /**
   * over contacts: largest number in one sweep of Algorithm 1, in one of the pull-back, to colour them, and in one step;
   * and the total
   */
  readonly ofSweep: number;
  readonly ofPullBack: number;
  readonly ofColouring: number;
  readonly ofStep: number;
  readonly overContacts: number;
  /** over colours of edges, at most: each colour is a turn, even if none of its edges acts */
  readonly overEdges: number;
}

/** @param plan edges of the mesh */
export function countTurns(launches: readonly Launch[], plan: Pick<EdgePlan, 'colours' | 'wideColours'>): Turns {
  let [ofSweep, ofPullBack, ofColouring, ofStep, inStep, overContacts, overEdges] = [0, 0, 0, 0, 0, 0, 0];
  for (const { entry, didWork, passes, turnsOfPass } of launches) {
    if (!didWork) continue;
    // All sweeps of a dispatch process the same contacts round by round.
    const turns = passes * turnsOfPass;
    if (entry === 'colourTail') ofColouring = Math.max(ofColouring, turnsOfPass);
    else if (OF_PULL_BACK.includes(entry)) ofPullBack = Math.max(ofPullBack, turnsOfPass);
    else ofSweep = Math.max(ofSweep, turnsOfPass);
    inStep += turns;
    overContacts += turns;
    ofStep = Math.max(ofStep, inStep);
    overEdges += edgeTurnsOf(entry, passes, plan);
    if (LAST_OF_STEP.includes(entry)) inStep = 0;
  }
  return { ofSweep, ofPullBack, ofColouring, ofStep, overContacts, overEdges };
}

function edgeTurnsOf(
  entry: EntryPoint,
  sweeps: number,
  { colours, wideColours }: Pick<EdgePlan, 'colours' | 'wideColours'>,
): number {
  const count = Math.max(0, colours.length - 1);
  switch (entry) {
    case 'edgesTail': {
      let turns = 0;
      for (let c = wideColours; c < count; c++) turns += Math.ceil((colours[c + 1]! - colours[c]!) / THREADS);
      return turns;
    }
    case 'sweepListedEdges':
    case 'limitsTail':
      return count;
    case 'sweepListed':
      // The first sweep over edges is a dispatch of its own.
      return count * Math.max(0, sweeps - 1);
    case 'sweepFew':
    case 'sweepSmall':
      return count * sweeps;
    default:
      return 0;
  }
}
