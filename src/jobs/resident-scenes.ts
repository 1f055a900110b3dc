import { IntersticeError } from '../contract/errors.js';
import type { MeshLimits, Positions } from '../contract/mesh.js';
import { buildMesh } from '../mesh/build.js';
import { checkPositions } from '../mesh/positions.js';
import type { CollisionMesh } from '../mesh/types.js';
import { ResidentScene } from './resident-scene.js';
import type { SavedSession } from './saved-session.js';
import type { HeldVersions, SceneDelta, SceneState } from './tasks.js';

/** The scenes that a lane's thread holds, by key. */
export class ResidentScenes {
  private readonly scenes = new Map<number, ResidentScene>();
  /** by job */
  private readonly images = new Map<object, Float32Array>();
  /** of earlier jobs */
  private freeImages: Float32Array[] = [];

  /** @param forget frees what a device keeps for a mesh; called for one whose states will not be tested again */
  constructor(private readonly forget: (mesh: CollisionMesh) => void = () => undefined) {}

  /**
   * Memory for the image of one step's target. It is reused, because new memory costs as much as the values that are
   * computed into it.
   *
   * @param job keeps it until {@link releaseImage}, and gets the same memory if it asks again
   * @returns float32[length], uninitialised
   */
  acquireImage(length: number, job: object): Float32Array {
    let image = this.images.get(job) ?? this.freeImages.pop();
    if (!image || image.length < length) image = new Float32Array(length);
    this.images.set(job, image);
    return image.subarray(0, length);
  }

  /** The job has ended. */
  releaseImage(job: object): void {
    const image = this.images.get(job);
    if (image) this.freeImages.push(image);
    this.images.delete(job);
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
    const scene = this.scenes.get(key);
    if (scene) this.forget(scene.held.mesh);
    scene?.discard();
    this.scenes.delete(key);
    this.freeImages = [];
  }

  /** What the session of a scene continues from, read for the last time: the scene is dropped afterwards. */
  async readLast(key: number): Promise<SavedSession | null> {
    const scene = this.scenes.get(key);
    // The copies of what is read have its room.
    if (scene) this.forget(scene.held.mesh);
    return (await scene?.saveAll()) ?? null;
  }

  find(key: number): ResidentScene | undefined {
    return this.scenes.get(key);
  }

  get count(): number {
    return this.scenes.size;
  }

  /** bytes that the scenes share */
  get sharedBytes(): number {
    return [...this.images.values(), ...this.freeImages].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /**
   * Returns the scene in the versions that the session has committed: builds it, or replaces its mesh or state, as needed.
   * If the mesh or the state is refused, the scene is unchanged; it may have returned to the mesh of its last accepted
   * step.
   *
   * @throws the refusals of mesh and positions; INTERNAL if something that is needed was not sent
   */
  bring(delta: SceneDelta, limits: MeshLimits): ResidentScene {
    const { key } = delta;
    const scene = this.scenes.get(key);
    if (!scene) {
      const mesh = delta.mesh ?? missing('mesh', key);
      const start = delta.start ?? missing('start', key);
      const built = buildScene({ ...delta, mesh, start }, limits);
      if (delta.saved) built.resume(delta.saved);
      else if (delta.wasLost) built.noteLoss();
      this.scenes.set(key, built);
      return built;
    }
    const before = scene.held.mesh;
    bringForward(scene, delta, limits);
    // A session rarely returns to a mesh that was replaced.
    if (scene.held.mesh !== before) this.forget(before);
    return scene;
  }
}

/** Brings a scene to the versions that its session has committed. @throws like {@link ResidentScenes.bring} */
function bringForward(scene: ResidentScene, delta: SceneDelta, limits: MeshLimits): void {
  const { key, meshVersion, stateVersion } = delta;
  let positions: Positions | undefined;
  if (scene.state.version !== stateVersion) {
    positions = delta.start ?? missing('start', key);
    checkPositions(positions, scene.held.mesh.vertexCount, 'start');
  }
  const build = () => {
    const input = delta.mesh ?? missing('mesh', key);
    return { version: meshVersion, input, mesh: buildMesh(input, limits) };
  };
  if (scene.returnToMesh(meshVersion, build, positions && { version: stateVersion, positions })) return;
  const mesh = scene.held.version === meshVersion ? undefined : build();
  // The state first: what is kept with the replaced mesh is then of the last accepted step.
  if (positions) scene.replaceState(stateVersion, positions);
  if (mesh) scene.replaceMesh(mesh);
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
