import type { ElementPair } from '../contract/elements.js';
import type { Scalar } from '../mesh/positions.js';
import type { EnginePositions } from '../solver/engine.js';
import type { FrameFields } from '../solver/frame.js';
import type { SavedScene } from '../solver/saved-scene.js';
import type { Verified } from './resident-scene.js';

/**
 * What a lane's thread knows of a session beyond mesh and state, as plain data: the scene of a parked session is built again
 * from it, and the answers that follow have the bytes that they would have had without parking.
 */
export interface SavedSession {
  /** mesh and state that it belongs to */
  readonly meshVersion: number;
  readonly stateVersion: number;
  /** undefined = no step has been made */
  readonly fitted: { readonly frame: FrameFields; readonly scalar: Scalar } | undefined;
  /** as in HeldState */
  readonly engine: EnginePositions | undefined;
  readonly verified: Verified | undefined;
  /** pairs that the last step excluded; undefined = none */
  readonly excluded: readonly ElementPair[] | undefined;
  /** ms, what a time budget reserves */
  readonly checkMs: number;
  /** undefined = the engine had no scene, or cannot save one */
  readonly scene: SavedScene | undefined;
  /** the engine had a scene and cannot save it: the next step searches anew, and says so */
  readonly isSceneLost: boolean;
  /** from before the step that led to this state, in case it was not accepted; undefined = not kept */
  readonly before?: SavedSession | undefined;
}
