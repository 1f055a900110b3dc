import { IntersticeError } from '../contract/errors.js';
import type { MeshLimits, Positions } from '../contract/mesh.js';
import { buildMesh } from '../mesh/build.js';
import { measureMesh } from '../mesh/measure.js';
import { checkPositions } from '../mesh/positions.js';
import type { MeshMeasures } from '../mesh/types.js';
import { ResidentScene } from './resident-scene.js';
import type { SceneDelta } from './scene-tasks.js';

/** What a worker holds of one scene, as it tells the main thread after every job. */
export interface HeldVersions {
  readonly meshVersion: number;
  readonly stateVersion: number;
  /** of frame 0; the main thread keeps them for the time when the worker has lost the scene */
  readonly measures: MeshMeasures;
}

/** The scenes that live in this worker, by key. */
export class ResidentScenes {
  private readonly scenes = new Map<number, ResidentScene>();
  private room = new Float32Array(0);

  /**
   * Memory for the image of one step's target, until the next step: the lane's jobs run one at a time, and memory that is
   * new to the process costs as much as what is computed into it.
   *
   * @returns float32[length], with whatever is in it
   */
  lendRoom(length: number): Float32Array {
    if (this.room.length < length) this.room = new Float32Array(length);
    return this.room.subarray(0, length);
  }

  /** After an answer was sent: what can be done for the scene's next step before it comes. */
  getReady(key: number): void {
    this.scenes.get(key)?.getReady();
  }

  heldOf(key: number): HeldVersions | undefined {
    const scene = this.scenes.get(key);
    return scene && { meshVersion: scene.held.version, stateVersion: scene.state.version, measures: scene.measures };
  }

  /** Puts a scene in the place of the one with this key, if there is one. */
  put(key: number, scene: ResidentScene): void {
    this.drop(key);
    this.scenes.set(key, scene);
  }

  /** Also gives back the memory that was lent: the next step takes what it needs, and the largest may just have gone. */
  drop(key: number): void {
    this.scenes.get(key)?.discard();
    this.scenes.delete(key);
    this.room = new Float32Array(0);
  }

  find(key: number): ResidentScene | undefined {
    return this.scenes.get(key);
  }

  /** bytes that are kept for whichever scene is next */
  get sharedBytes(): number {
    return this.room.byteLength;
  }

  /**
   * The scene, brought to the versions that the session has committed: built, given another mesh or another state as
   * needed. Nothing of it is changed when the mesh or the state is refused.
   *
   * @throws what the mesh and the positions are refused with; INTERNAL when something that is needed was not sent along
   */
  bring(delta: SceneDelta, measures: MeshMeasures | undefined, limits: MeshLimits): ResidentScene {
    const { key, meshVersion, stateVersion } = delta;
    const scene = this.scenes.get(key);
    if (!scene) {
      const input = delta.mesh ?? missing('mesh', key);
      const positions = delta.start ?? missing('start', key);
      const mesh = buildMesh(input, limits);
      checkPositions(positions, mesh.vertexCount, 'start');
      const built = new ResidentScene(
        measures ?? measureMesh(mesh, positions),
        { version: meshVersion, input, mesh },
        { version: stateVersion, positions, engine: undefined, verified: undefined },
      );
      this.scenes.set(key, built);
      return built;
    }
    const isOther = scene.held.version !== meshVersion;
    const input = isOther ? (delta.mesh ?? missing('mesh', key)) : scene.held.input;
    const mesh = isOther ? buildMesh(input, limits) : scene.held.mesh;
    let positions: Positions | undefined;
    if (scene.state.version !== stateVersion) {
      positions = delta.start ?? missing('start', key);
      checkPositions(positions, mesh.vertexCount, 'start');
    }
    if (isOther) scene.replaceMesh({ version: meshVersion, input, mesh });
    if (positions) scene.replaceState(stateVersion, positions);
    return scene;
  }
}

function missing(what: string, key: number): never {
  throw new IntersticeError('INTERNAL', `the worker lacks the ${what} of scene ${key}, and it was not sent along`);
}
