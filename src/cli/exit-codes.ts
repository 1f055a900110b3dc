import { ERRORS, IntersticeError } from '../contract/errors.js';
import type { Report } from '../contract/report.js';

export const EXIT = {
  OK: 0,
  FOUND: 1,
  USAGE: 2,
  REFUSED: 3,
  NOT_CONVERGED: 4,
  INTERNAL: 5,
  INTERRUPTED: 130,
} as const;

/** One row per code, in the order of the help page. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.OK, 'converged and free of intersections, or found free by the check'],
  [
    EXIT.FOUND,
    'the answer intersects; check, doctor or certify found something; plan: no number of processes is enough',
  ],
  [EXIT.USAGE, 'the command line is wrong, or a named file cannot be read or written'],
  [EXIT.REFUSED, 'the request was refused; the message names the element, the option or the key at fault'],
  [EXIT.NOT_CONVERGED, 'safe but not converged: the file is written and free of intersections'],
  [
    EXIT.INTERNAL,
    'a failure of the program, the machine or the service; a full queue; no answer within the time budget',
  ],
  [EXIT.INTERRUPTED, 'interrupted (Ctrl-C); only finished frames of a sequence, and states of a trace, are written'],
];

/** A mistake in the command line itself; `command` names the help page to read, if there is one. */
export class UsageError extends Error {
  constructor(
    message: string,
    readonly command?: string,
  ) {
    super(message);
    this.name = 'UsageError';
  }
}

/** An intersecting answer takes precedence over the way in which the run ended. */
export function exitCodeOfReport({ status, intersectingPairCount = 0 }: Report): number {
  if (intersectingPairCount > 0) return EXIT.FOUND;
  return status === 'CONVERGED' ? EXIT.OK : EXIT.NOT_CONVERGED;
}

/**
 * Refusals (4xx in the table of errors, and inputs that are not supported) concern the request. All other errors do not,
 * and neither does a full queue: the service accepts the same request later.
 */
export function exitCodeOfError(thrown: unknown): number {
  if (thrown instanceof UsageError) return EXIT.USAGE;
  const error = IntersticeError.from(thrown);
  if (error.code === 'CANCELLED') return EXIT.INTERRUPTED;
  if (error.code === 'QUEUE_FULL') return EXIT.INTERNAL;
  const isRefusal = ERRORS[error.code].http < 500 || error.code === 'UNIMPLEMENTED';
  return isRefusal ? EXIT.REFUSED : EXIT.INTERNAL;
}
