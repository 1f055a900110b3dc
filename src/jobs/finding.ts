import type { ElementPair } from '../contract/elements.js';
import type { FindingKind } from '../contract/events.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { ResolveRequest } from '../contract/requests.js';
import type { PathFindings, StateFindings } from '../verify/types.js';

/**
 * The verifier has caught the engine: an answer, or a piece of its path, that must not exist. The answer was not sent;
 * this is everything that is needed to see it again. Plain data, so that it crosses threads.
 */
export interface Finding {
  readonly kind: FindingKind;
  readonly message: string;
  readonly request: ResolveRequest;
  readonly resolved: Parameters;
  /** what intersected at the start, or had in a session's last step, and was excluded */
  readonly excluded?: readonly ElementPair[];
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
