import type { ElementPair } from '../contract/elements.js';
import type { FindingKind } from '../contract/events.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { ResolveRequest } from '../contract/requests.js';
import type { PathFindings, StateFindings } from '../verify/types.js';

/**
 * A fault of the engine that the verifier found: an answer, or a piece of its path, that violates the guarantee. It was not
 * sent. The finding holds everything that is needed to reproduce the fault; it is plain data, so that it crosses threads.
 */
export interface Finding {
  readonly kind: FindingKind;
  readonly message: string;
  readonly request: ResolveRequest;
  readonly resolved: Parameters;
  /** pairs that intersected at the start, or in the session's last step, and were excluded */
  readonly excluded?: readonly ElementPair[];
  readonly engine: string;
  readonly version: string;
  /** how many states had been accepted before */
  readonly statesAccepted: number;
  /** [3·V] the start of the faulty piece; absent for a state */
  readonly before?: Positions;
  /** [3·V] the faulty state, or the end of the faulty piece */
  readonly after: Positions;
  readonly state?: StateFindings;
  readonly path?: PathFindings;
}

/** A finding as the checks of a path and of an answer describe it. */
export type Problem = Pick<Finding, 'kind' | 'message' | 'statesAccepted' | 'before' | 'after' | 'state' | 'path'>;
