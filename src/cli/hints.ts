import type { Status } from '../contract/report.js';

/** What a status means to the person who asked, and what they can do about it. */
export const STATUS_WORDS: { readonly [S in Status]: { readonly words: string; readonly hint?: string } } = {
  CONVERGED: { words: 'converged' },
  STALLED: {
    words: 'stalled (safe, not converged)',
    hint: 'Contacts hold the remaining vertices in place. Look at what holds them, or aim for a target that is easier to reach.',
  },
  STEP_LIMIT: {
    words: 'stopped at the step limit (safe, not converged)',
    hint: 'Raise --step-limit, or go on from the answer: use it as the start of another run to the same target.',
  },
  DEADLINE: {
    words: 'stopped by the time budget (safe, not converged)',
    hint: 'Raise --time-budget, or go on from the answer: use it as the start of another run to the same target.',
  },
};

/** Advice for the warnings that have a cure; a warning that is not listed here is shown with its message alone. */
const WARNING_HINTS: Readonly<Record<string, string>> = {
  UNUSED_VERTICES: 'They move straight to their targets; remove them from the mesh if that is not what you want.',
  ZERO_LENGTH_EDGE: 'Merge the two vertices, or move them apart.',
  ZERO_AREA_TRIANGLE: 'Remove the triangle, or move a corner off the line.',
  DELTA_ABOVE_HALF_EDGE: 'Set a smaller --activation-distance, or use a coarser mesh.',
  DELTA_ABOVE_HEIGHT: 'Set a smaller --activation-distance, or remove the thinnest triangles.',
};

export const warningHint = (code: string): string | undefined => WARNING_HINTS[code];
