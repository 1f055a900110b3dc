import type { ElementPair } from '../errors.js';
import type { Positions } from '../mesh/types.js';
import type { ResolveRequest } from '../session/types.js';
import type { Parameters } from '../solver/types.js';
import type { PathFindings, StateFindings } from '../verify/types.js';

/**
 * The verifier has caught the engine: an answer, or a piece of its path, that must not exist. The answer was not sent;
 * this is everything that is needed to see it again. Plain data, so that it crosses threads.
 */
export interface Finding {
  /** what failed: the exact test of a state, the test of a piece of the path, or numbers that are no numbers */
  readonly kind: 'STATE' | 'PATH' | 'NOT_FINITE';
  readonly message: string;
  readonly request: ResolveRequest;
  readonly resolved: Parameters;
  /** what intersected at the start, or had in a session's last step, and was left out */
  readonly leftOut?: readonly ElementPair[];
  readonly engine: string;
  readonly version: string;
  /** how many states the engine had accepted when it happened */
  readonly statesAccepted: number;
  /** [3·V] start of the piece at fault; absent for a state */
  readonly before?: Positions;
  /** [3·V] the state at fault, or the end of the piece */
  readonly after: Positions;
  readonly state?: StateFindings;
  readonly path?: PathFindings;
}

export type Problem = Pick<Finding, 'kind' | 'message' | 'statesAccepted' | 'before' | 'after' | 'state' | 'path'>;
