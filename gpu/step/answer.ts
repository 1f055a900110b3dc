import type { ElementPair } from '../../src/contract/elements.js';
import type { StageTimings, Status } from '../../src/contract/report.js';
import { PAIR_KINDS } from '../../src/solver/pair-kinds.js';
import { countPairs, describePair } from '../../src/solver/pair-report.js';
import type { Resolution } from '../../src/solver/types.js';
import type { StructValues } from '../device/struct.js';
import { KIND_MASK, STATE } from '../kernels/constants.js';
import type { CONTROL } from '../kernels/structs.js';

export type ControlBlock = StructValues<typeof CONTROL>;

/** @param wasStopped the caller asked to stop while the run was still going */
export function statusOf(state: number, wasStopped: boolean): Status {
  if (state === STATE.CONVERGED) return 'CONVERGED';
  if (state === STATE.STALLED) return 'STALLED';
  if (state === STATE.AT_STEP_LIMIT) return 'STEP_LIMIT';
  if (wasStopped) return 'DEADLINE';
  throw new Error(`the run ended in state ${state}`);
}

/** @param parts of one pair: 16 bytes of pairVertex, 4 of pairInfo, 16 of pairNormal, 4 its distance */
export function namePair(parts: readonly ArrayBuffer[]): ElementPair {
  const kind = new Uint32Array(parts[1])[0] & KIND_MASK;
  return describePair(kind, new Int32Array(parts[0]), new Float32Array(parts[3])[0], new Float32Array(parts[2]));
}

export interface AnswerParts {
  readonly control: ControlBlock;
  readonly positions: Float32Array;
  readonly residuals: Float32Array;
  readonly limitingPairs: readonly ElementPair[];
  readonly timings: StageTimings;
  readonly wasStopped: boolean;
}

export function toResolution(parts: AnswerParts): Resolution {
  const { control, positions, residuals, limitingPairs, timings, wasStopped } = parts;
  return {
    status: statusOf(control.state, wasStopped),
    positions,
    residuals,
    steps: control.steps,
    searches: control.searches,
    proximitySetReused: control.isReused === 1,
    residual: control.residual,
    unfinishedVertices: control.unfinished,
    pairs: {
      ...countPairs((kind) => control[PAIR_KINDS[kind].count]),
      activeContacts: control.mostContacts,
      colours: control.mostRounds,
    },
    touchingPairs: control.touching,
    limitingPairs,
    timings,
  };
}
