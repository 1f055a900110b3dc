import type { MeshInput, Positions } from '../contract/mesh.js';
import type { KinematicPairs, VerifyLevel } from '../contract/parameters.js';
import type { ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { Box } from '../mesh/positions.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import type { EnginePositions } from '../solver/engine.js';
import type { VerifierMemory } from '../verify/memory.js';
import type { StateFindings } from '../verify/types.js';
import type { SavedSession } from './saved-session.js';

/* What a scene on a lane holds, and what is known of it. */

/** The result of a test that a state has passed. */
export interface Verified {
  readonly level: VerifyLevel;
  readonly kinematicPairs: KinematicPairs;
  readonly findings: StateFindings;
}

/** The state of a scene. */
export interface HeldState {
  readonly version: number;
  /** [3·V] the caller's numbers */
  readonly positions: Positions;
  /** its image under the scene's frame, if that is the engine's own state or has passed the check of rounding */
  readonly engine?: EnginePositions | undefined;
  /** the rule for kinematic pairs then: in `engine`, pairs that it leaves out need not be apart */
  readonly kinematicPairs?: KinematicPairs | undefined;
  /** undefined = not tested here, or not under the present mesh */
  readonly verified?: Verified | undefined;
  /** pairs that the step that led here excluded; if they are lost (hasLostPairs), only those that still intersect */
  readonly excluded?: ExcludedPairs | undefined;
}

export interface HeldMesh {
  readonly version: number;
  /** as it was sent, for the reproduction of a finding */
  readonly input: MeshInput;
  readonly mesh: CollisionMesh;
}

/** The measures of a start: box of all vertices, bounds of those that belong to an element, in the caller's unit. */
export interface StartMeasures {
  readonly box: Box;
  readonly bounds: MeshMeasures['bounds'];
}

/** What a scene returns to if the step that changed its mesh is not accepted. */
export interface ReplacedMesh {
  readonly meshVersion: number;
  /** undefined = the session was parked when the mesh was replaced, so it was not built here */
  readonly held: { readonly mesh: HeldMesh; readonly memory: VerifierMemory } | undefined;
  readonly stateVersion: number;
  /** undefined = it is large, or the engine cannot save it */
  readonly saved: SavedSession | undefined;
  /** whether there were pairs of an accepted step, which are lost if they are not in `saved` */
  readonly hadPairs: boolean;
}
