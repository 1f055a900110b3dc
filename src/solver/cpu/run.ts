import type { MovedBefore } from '../before-steps.js';
import type { PullBackFigures, StepInput } from '../engine.js';
import type { PullBackPlan } from '../scattered-targets.js';
import type { HoldRecord } from './hold-record.js';
import type { Stages } from './stages.js';
import type { TimeLeft } from './time-left.js';

/** Whether P must be searched before the next step, and for which vertices. */
export interface NextSearch {
  readonly isDue: boolean;
  /** uint8[V] 1 = needs a new box; undefined = all do */
  readonly wanted: Uint8Array | undefined;
}

/** The variables of one request. */
export interface Run extends TimeLeft {
  /** x^[k] and y^[k+1], the start and the target */
  readonly input: StepInput;
  readonly stages: Stages;
  /** float32[3·V] x^(l) */
  readonly x: Float32Array;
  /** float32[3·V] y^(l) */
  readonly y: Float32Array;
  /** whether P of the last request is valid for this one */
  readonly isReused: boolean;
  next: NextSearch;
  /** the motions before the first step */
  readonly moved: MovedBefore;
  /** undefined = Algorithm 1 alone */
  readonly plan: PullBackPlan | undefined;
  /** l, those pieces included */
  steps: number;
  /** undefined = the phase did not run */
  pullBack?: PullBackFigures;
  /** undefined = not requested */
  readonly holds: HoldRecord | undefined;
  searches: number;
  /** the largest number in one backward step */
  activeContacts: number;
  /** the largest number in one backward step */
  colours: number;
}

/** Notes the contacts and colours of one backward step. */
export function noteRows(run: Run, contacts: number, colours: number): void {
  run.activeContacts = Math.max(run.activeContacts, contacts);
  run.colours = Math.max(run.colours, colours);
}
