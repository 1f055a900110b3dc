import type { ElementPair, ElementRef } from '../../contract/elements.js';
import { formatCount } from '../format.js';
import { byId } from './dom.js';

/** An error of the service, of its client, or of a file reader, as shown to the user. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly pairs: readonly ElementPair[];
  readonly pairCount: number;
  readonly element: ElementRef | undefined;
  /** whether the same request may succeed later */
  readonly isRetryable: boolean;
}

interface Fields {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly hint?: unknown;
  readonly pairs?: readonly ElementPair[];
  readonly pairCount?: number;
  readonly element?: ElementRef;
  readonly retryable?: unknown;
}

/** An error of the page itself, such as a choice of files that do not belong together, has no code. */
const NO_CODE = 'PROBLEM';

export function problemOf(thrown: unknown): Problem {
  const fields = (thrown ?? {}) as Fields;
  const code = typeof fields.code === 'string' ? fields.code : NO_CODE;
  const message = String(fields.message ?? thrown).replace(`${code}: `, '');
  const pairs = fields.pairs ?? [];
  const hint = typeof fields.hint === 'string' ? fields.hint : '';
  const isRetryable = fields.retryable === true || code === 'TIMEOUT';
  return {
    code,
    message,
    hint,
    pairs,
    pairCount: fields.pairCount ?? pairs.length,
    element: fields.element,
    isRetryable,
  };
}

/** "INTERSECTING_START" → "Intersecting start" */
const titleOf = (code: string): string => {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/**
 * Shows the error, its remedy and, on request, its place.
 *
 * @param show moves the view to the elements at fault
 * @param again repeats what has failed
 */
export function showProblem(problem: Problem, show: (() => void) | undefined, again?: () => void): void {
  byId('problem-title').textContent = titleOf(problem.code);
  const more = problem.pairCount > problem.pairs.length && problem.pairs.length > 0;
  byId('problem-text').textContent =
    problem.message +
    (more ? ` Shown: ${formatCount(problem.pairs.length)} of ${formatCount(problem.pairCount)} pairs.` : '');
  const hint = byId('problem-hint');
  hint.textContent = problem.hint;
  hint.hidden = problem.hint === '';
  const button = byId<HTMLButtonElement>('problem-show');
  button.hidden = show === undefined;
  button.onclick = () => show?.();
  const repeat = byId<HTMLButtonElement>('problem-again');
  repeat.hidden = again === undefined || !problem.isRetryable;
  repeat.onclick = () => {
    hideProblem();
    again?.();
  };
  byId('problem').hidden = false;
}

export function hideProblem(): void {
  byId('problem').hidden = true;
}
