import { IntersticeError } from '../contract/errors.js';
import type { MeshLimits, Positions } from '../contract/mesh.js';
import { buildMesh } from '../mesh/build.js';
import { checkPositions } from '../mesh/positions.js';
import { ResidentScene } from './resident-scene.js';
import type { SavedSession } from './saved-session.js';
import type { HeldVersions, SceneDelta, SceneState } from './tasks.js';

/** The scenes that a lane's thread holds, by key. */
export class ResidentScenes {
  private readonly scenes = new Map<number, ResidentScene>();
  private image = new Float32Array(0);

  /**
   * Memory for the image of one step's target, valid until the next step. The lane's jobs run one at a time, and new memory
   * costs as much as the values that are computed into it.
   *
   * @returns float32[length], uninitialised
   */
  acquireImage(length: number): Float32Array {
    if (this.image.length < length) this.image = new Float32Array(length);
    return this.image.subarray(0, length);
  }

  /** Computes what the scene's next step will need, after its last answer was sent. */
  prepareStart(key: number): void {
    this.scenes.get(key)?.prepareStart();
  }

  heldOf(key: number): HeldVersions | undefined {
    const scene = this.scenes.get(key);
    return scene && { meshVersion: scene.held.version, stateVersion: scene.state.version, measures: scene.measures };
  }

  /** Adds a scene, or replaces the one with this key. */
  put(key: number, scene: ResidentScene): void {
    this.drop(key);
    this.scenes.set(key, scene);
  }

  /** Also frees the memory for images: the dropped scene may have been the largest, and the next step allocates what it needs. */
  drop(key: number): void {
    this.scenes.get(key)?.discard();
    this.scenes.delete(key);
    this.image = new Float32Array(0);
  }

  /** What the session of a scene goes on from, read for the last time: the scene is to be dropped after it. */
  async readLast(key: number): Promise<SavedSession | null> {
    return (await this.scenes.get(key)?.saveAll()) ?? null;
  }

  find(key: number): ResidentScene | undefined {
    return this.scenes.get(key);
  }

  get count(): number {
    return this.scenes.size;
  }

  /** bytes that the scenes share */
  get sharedBytes(): number {
    return this.image.byteLength;
  }

  /**
   * Returns the scene in the versions that the session has committed: builds it, or replaces its mesh or state, as needed.
   * If the mesh or the state is refused, the scene is unchanged.
   *
   * @throws the refusals of mesh and positions; INTERNAL if something that is needed was not sent along
   */
  bring(delta: SceneDelta, limits: MeshLimits): ResidentScene {
    const { key, meshVersion, stateVersion } = delta;
    const scene = this.scenes.get(key);
    if (!scene) {
      const mesh = delta.mesh ?? missing('mesh', key);
      const start = delta.start ?? missing('start', key);
      const built = buildScene({ ...delta, mesh, start }, limits);
      if (delta.saved) built.restore(delta.saved);
      this.scenes.set(key, built);
      return built;
    }
    const isNewMesh = scene.held.version !== meshVersion;
    const input = isNewMesh ? (delta.mesh ?? missing('mesh', key)) : scene.held.input;
    const mesh = isNewMesh ? buildMesh(input, limits) : scene.held.mesh;
    let positions: Positions | undefined;
    if (scene.state.version !== stateVersion) {
      positions = delta.start ?? missing('start', key);
      checkPositions(positions, mesh.vertexCount, 'start');
    }
    if (isNewMesh) scene.replaceMesh({ version: meshVersion, input, mesh });
    if (positions) scene.replaceState(stateVersion, positions);
    return scene;
  }
}

/** @throws the refusals of mesh and positions */
export function buildScene(state: Omit<SceneState, 'key'>, limits: MeshLimits): ResidentScene {
  const { meshVersion, mesh: input, stateVersion, start, measures } = state;
  const mesh = buildMesh(input, limits);
  checkPositions(start, mesh.vertexCount, 'start');
  return new ResidentScene(
    { version: meshVersion, input, mesh },
    { version: stateVersion, positions: start },
    measures,
  );
}

function missing(what: string, key: number): never {
  throw new IntersticeError('INTERNAL', `The thread lacks the ${what} of scene ${key}, and it was not sent along.`);
}
