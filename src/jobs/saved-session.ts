import type { ElementPair } from '../contract/elements.js';
import type { KinematicPairs } from '../contract/parameters.js';
import type { Scalar } from '../mesh/positions.js';
import type { EnginePositions } from '../solver/engine.js';
import type { FrameFields } from '../solver/frame.js';
import { isSavedScene, type SavedScene } from '../solver/saved-scene.js';
import type { Verified } from './held-state.js';

/**
 * What the thread of a lane knows of a session besides mesh and state, as plain data. The scene of a parked session is
 * rebuilt from it, and the answers that follow have the same bytes as without parking.
 */
export interface SavedSession {
  /** mesh and state that it belongs to */
  readonly meshVersion: number;
  readonly stateVersion: number;
  /** undefined = no step has been made */
  readonly fitted: { readonly frame: FrameFields; readonly scalar: Scalar } | undefined;
  /** as in HeldState */
  readonly engine: EnginePositions | undefined;
  readonly kinematicPairs: KinematicPairs | undefined;
  readonly verified: Verified | undefined;
  /** pairs that the last step excluded; undefined = none */
  readonly excluded: readonly ElementPair[] | undefined;
  /** ms, the time that a time budget reserves for the test */
  readonly checkMs: number;
  /** undefined = the engine had no scene, or cannot save one */
  readonly scene: SavedScene | undefined;
  /** whether the engine had a scene and cannot save it: the next step searches anew, and its report says so */
  readonly isSceneLost: boolean;
  /** from before the step that led to this state, in case it was not accepted; undefined = not kept */
  readonly before?: SavedSession | undefined;
}

/** Whether data of another process are such a session of a mesh with this many vertices, as {@link isSavedScene} means it. */
export function isSavedSession(saved: SavedSession, vertexCount: number): boolean {
  const { meshVersion, stateVersion, fitted, engine, excluded, checkMs, scene, isSceneLost, before } = saved;
  return (
    [meshVersion, stateVersion].every(Number.isSafeInteger) &&
    Number.isFinite(checkMs) &&
    typeof isSceneLost === 'boolean' &&
    (fitted === undefined || isFrame(fitted.frame)) &&
    (engine === undefined || (engine instanceof Float32Array && engine.length === 3 * vertexCount)) &&
    (excluded === undefined || Array.isArray(excluded)) &&
    (scene === undefined || isSavedScene(scene, vertexCount)) &&
    (before === undefined || isSavedSession(before, vertexCount))
  );
}

const isFrame = ({ origin, scale, largestEngine, largestCaller }: FrameFields): boolean =>
  origin.length === 3 && [...origin, scale, largestEngine, largestCaller].every(Number.isFinite);
