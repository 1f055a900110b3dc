import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import { bytesOf } from '../mesh/bytes.js';
import { ExcludedPairs } from '../mesh/excluded-pairs.js';
import { findBounds, measureMesh } from '../mesh/measure.js';
import { measureBox, scalarOf } from '../mesh/positions.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import type { Engine, EnginePositions, Resolution, Scene, StepInput } from '../solver/engine.js';
import { CoordinateFrame, type FrameFields } from '../solver/frame.js';
import type { SavedScene } from '../solver/saved-scene.js';
import { VerifierMemory } from '../verify/memory.js';
import { keptFor } from '../verify/mesh-tree.js';
import type { HeldMesh, HeldState, ReplacedMesh, StartMeasures } from './held-state.js';
import type { SavedSession } from './saved-session.js';
import type { ChosenFrame, FittedFrame } from './scene-frame.js';
import { StepCosts } from './step-costs.js';

/**
 * Bytes of an engine scene up to which every step keeps a copy of what it begins from. The copy takes a hundredth of
 * the time of such a step; for larger scenes it would double the memory of a session.
 */
const REMEMBERED_BYTES = 8 * 2 ** 20;

/** What a step needs of an engine scene. */
interface EngineSetup {
  readonly mesh: CollisionMesh;
  readonly parameters: Parameters;
  readonly chosen: ChosenFrame;
}

/** The setup that an engine scene was opened for; another mesh or frame needs another scene. */
interface PresentSetup {
  readonly mesh: CollisionMesh;
  readonly parameters: Parameters;
  readonly frame: CoordinateFrame;
  /** engine units */
  readonly floor: number;
}

/**
 * A scene on a lane: mesh and state, what is known of them, and the engine's scene with its proximity set. For a session it
 * is a cache of the state in `src/session`. A step reads it, and changes it only when its answer is complete
 * ({@link commit}).
 */
export class ResidentScene {
  /** what steps have cost so far, for time budgets */
  readonly costs = new StepCosts();
  #held: HeldMesh;
  #state: HeldState;
  #measures: MeshMeasures | undefined;
  #fitted: FittedFrame | undefined;
  /** of the held state; undefined = not measured yet */
  #startMeasures: StartMeasures | undefined;
  /** of the held state under one frame */
  #startImage: { readonly frame: CoordinateFrame; readonly engine: EnginePositions } | undefined;
  /** an array that {@link commit} has allocated, and may overwrite */
  #ownPositions: Positions | undefined;
  #memory: VerifierMemory;
  #scene: Scene | undefined;
  #setup: PresentSetup | undefined;
  /** of a parked session: what its engine scene continues from, until it is opened again */
  #saved: SavedScene | undefined;
  /** whether its engine scenes share no buffers, because those had no memory for one of them */
  #opensAlone = false;
  #hasLostPairs = false;
  /** what the running or last step began from, to return to if the step is not accepted */
  #before: SavedSession | undefined;
  /** the mesh of the last accepted step, while it is not known that one with the present mesh was accepted */
  #replaced: ReplacedMesh | undefined;
  /** whether the engine's scene holds the result of an accepted step */
  #hasPairs = false;
  /** whether it did when the running or last step began: a step under another coordinate frame opens another scene */
  #hadPairs = false;

  /** @param measures of frame 0, if they are known; otherwise measured in `state` when they are first needed */
  constructor(mesh: HeldMesh, state: HeldState, measures?: MeshMeasures) {
    this.#held = mesh;
    this.#memory = new VerifierMemory(mesh.mesh);
    this.#state = state;
    this.#measures = measures;
  }

  /** Measures of frame 0, from which defaults follow as long as the session lives, so that δ does not drift. */
  get measures(): MeshMeasures {
    this.#measures ??= measureMesh(this.#held.mesh, this.#state.positions);
    return this.#measures;
  }

  /**
   * Whether pairs that the engine had found were lost, with a device, a step that was not accepted, or an engine that
   * cannot save them. The next answer may then differ in bits from one that continues from them. True until the next
   * step is accepted. A device that is lost before the first step, or under a scene that was parked and whose first step
   * since was not accepted, takes no pairs with it: the scene is opened again as it was.
   */
  get hasLostPairs(): boolean {
    return this.#hasLostPairs;
  }

  /** Copies everything that the next step depends on besides mesh and positions and that is not on a device. */
  save(): SavedSession {
    return this.#saveWith(this.#saved ?? this.#scene?.save?.());
  }

  /** @param scene what was saved of the engine's scene; undefined = nothing */
  #saveWith(scene: SavedScene | undefined): SavedSession {
    const { engine, kinematicPairs, verified, excluded, version: stateVersion } = this.#state;
    const fitted = this.#fitted;
    return {
      meshVersion: this.#held.version,
      stateVersion,
      fitted: fitted && { frame: { ...fitted.frame }, scalar: fitted.scalar },
      engine,
      kinematicPairs,
      verified,
      excluded: excluded?.items,
      checkMs: this.costs.answerFor(1).check,
      scene,
      isSceneLost: this.hasLostPairs || (this.#hasPairs && !scene),
    };
  }

  /**
   * Copies what {@link save} returns for another thread, which takes over every array.
   *
   * @throws like {@link Scene.read}
   */
  async copy(): Promise<SavedSession> {
    const { scene, ...rest } = await this.#saveOrRead();
    // The engine has copied what it saved; data that waits for the engine to be opened is still needed here.
    return { ...structuredClone(rest), scene: this.#saved ? structuredClone(scene) : scene };
  }

  /** {@link save}, including what the last step began from, because it may turn out that the step was not accepted. */
  async saveAll(): Promise<SavedSession> {
    // If the device is lost, or it or the host has no room for copies, the pairs are lost too, and the saved session says so.
    const saveRest = (thrown: unknown) => {
      if (thrown instanceof IntersticeError || thrown instanceof RangeError) return this.#saveWith(undefined);
      throw thrown;
    };
    // A step that is not accepted takes its mesh with it.
    const before = this.#replaced ? this.#saveReplaced(this.#replaced) : this.#before;
    return { ...(await this.#saveOrRead().catch(saveRest)), before };
  }

  /** What the session continues from if it returns to the mesh that was replaced. */
  #saveReplaced({ saved, meshVersion, stateVersion, hadPairs }: ReplacedMesh): SavedSession {
    if (saved) return saved;
    const { engine, kinematicPairs, excluded, ...rest } = this.#saveWith(undefined);
    const known = this.#state.version === stateVersion ? { engine, kinematicPairs, excluded } : NOTHING_KNOWN;
    return { ...rest, ...known, meshVersion, stateVersion, verified: undefined, isSceneLost: hadPairs };
  }

  /** {@link save}, including the data on a device. */
  async #saveOrRead(): Promise<SavedSession> {
    return this.#saveWith(this.#saved ?? this.#scene?.save?.() ?? (await this.#scene?.read?.()));
  }

  /** Called before a step runs: keeps what it begins from. */
  remember(): void {
    this.#before = this.#saveUnlessLarge();
    this.#hadPairs = this.#hasPairs;
  }

  /** {@link save}, unless the scene is large or the engine cannot save it. */
  #saveUnlessLarge(): SavedSession | undefined {
    const scene = this.#scene;
    const isKept = this.#saved !== undefined || !scene || (scene.save !== undefined && scene.bytes <= REMEMBERED_BYTES);
    return isKept ? this.save() : undefined;
  }

  /** Continues from what {@link saveAll} has copied. */
  resume(all: SavedSession): void {
    const { before } = all;
    // A step that was accepted has led to another state; one that was not may have left its mesh in `all`.
    const isUndone = before !== undefined && before.stateVersion === this.#state.version;
    const saved = isUndone ? before : all;
    const { meshVersion, stateVersion, scene } = saved;
    this.restore(saved);
    if (meshVersion === this.#held.version || stateVersion !== this.#state.version) return;
    // The session may continue with the mesh that this belongs to.
    const hadPairs = scene !== undefined && scene.step > 0;
    this.#replaced = { meshVersion, held: undefined, stateVersion, saved, hadPairs };
  }

  /** Continues from what {@link save} has copied, while no engine scene is open. Drops data that no longer fits. */
  restore(saved: SavedSession): void {
    const { fitted, engine, kinematicPairs, verified, excluded } = saved;
    const hasMesh = saved.meshVersion === this.#held.version;
    const hasState = saved.stateVersion === this.#state.version;
    this.#fitted = fitted && { frame: this.#frameOf(fitted.frame), scalar: fitted.scalar };
    if (saved.checkMs > 0) this.costs.noteCheck(saved.checkMs);
    if (hasState) {
      this.#state = {
        ...this.#state,
        // Under another mesh, pairs that were left out may count.
        ...(hasMesh ? { engine, kinematicPairs, verified } : {}),
        excluded: excluded && new ExcludedPairs(excluded),
      };
    }
    const { scene } = saved;
    const hadPairs = scene !== undefined && scene.step > 0;
    this.#hasLostPairs = saved.isSceneLost || (hadPairs && !hasState);
    if (!scene || !hasMesh || !hasState || !this.#fitted) return;
    this.#saved = scene;
    this.#hasPairs = hadPairs;
  }

  /** The present frame, if it has these fields: a step that is repeated was prepared under it. */
  #frameOf(fields: FrameFields): CoordinateFrame {
    const present = this.#fitted?.frame;
    return present?.isSame(fields) ? present : CoordinateFrame.of(fields);
  }

  /** Notes that this scene replaces one that died with its thread. */
  noteLoss(): void {
    this.#hasLostPairs = true;
  }

  get held(): HeldMesh {
    return this.#held;
  }

  /** What the verifier remembers of states of this mesh. It remains valid whatever has become of these states since. */
  get memory(): VerifierMemory {
    return this.#memory;
  }

  get state(): HeldState {
    return this.#state;
  }

  get fitted(): FittedFrame | undefined {
    return this.#fitted;
  }

  /**
   * Everything that lives as long as this scene: the engine's scene, the mesh as sent and as built, what the verifier keeps
   * for it, the state with its images. Memory that the scenes of a lane share is counted in ResidentScenes.sharedBytes.
   */
  get bytes(): number {
    const { mesh, input } = this.#held;
    const { positions, engine } = this.#state;
    const image = this.#startImage?.engine;
    // The next step's start is mapped after the answer was sent. It is counted before, so that the count stays the same.
    const imageToCome = image || engine ? 0 : Float32Array.BYTES_PER_ELEMENT * positions.length;
    const kept = [mesh, input, keptFor(mesh), this.#memory.kept, positions, this.#ownPositions, engine, image];
    return (
      bytesOf(kept, this.#before, this.#replaced?.held?.mesh, this.#replaced?.saved) +
      imageToCome +
      (this.#scene?.bytes ?? 0)
    );
  }

  /**
   * Replaces the mesh (kinematic flags, masses): no result for the old one is valid any longer, except that pairs are
   * still apart that had to be. The old one is kept until a step with the new one is accepted.
   */
  replaceMesh(mesh: HeldMesh): void {
    const old = this.#held.mesh;
    const isReleased = old.kinematic.some((flag, v) => flag === 1 && mesh.mesh.kinematic[v] === 0);
    const isApart = !isReleased || this.#state.kinematicPairs === 'PROTECT';
    this.#replaced ??= {
      meshVersion: this.#held.version,
      held: { mesh: this.#held, memory: this.#memory },
      stateVersion: this.#state.version,
      saved: this.#saveUnlessLarge(),
      hadPairs: this.#hasPairs,
    };
    this.#held = mesh;
    this.#memory = new VerifierMemory(mesh.mesh);
    this.#state = { ...this.#state, verified: undefined, ...(isApart ? {} : { engine: undefined }) };
    this.#startMeasures = undefined;
    this.discard();
  }

  /**
   * Returns to the mesh of the last accepted step, with all that was known under it, if it has this version.
   *
   * @param build builds that mesh, which was not built here if the session was parked
   * @param state that of the last accepted step, if an answer was computed here since
   * @returns whether it has
   */
  returnToMesh(version: number, build: () => HeldMesh, state?: Pick<HeldState, 'version' | 'positions'>): boolean {
    const replaced = this.#replaced;
    // If an answer under the present mesh is the state that the session continues from, that mesh was accepted.
    if (replaced && !state && this.#state.version !== replaced.stateVersion) this.#replaced = undefined;
    if (replaced?.meshVersion !== version) return false;
    const mesh = replaced.held?.mesh ?? build();
    this.#replaced = undefined;
    // It belongs to a step with the mesh that is given up.
    this.#before = undefined;
    this.#held = mesh;
    this.#memory = replaced.held?.memory ?? new VerifierMemory(mesh.mesh);
    this.#state = state ?? { ...this.#state, verified: undefined };
    this.#invalidateStart();
    this.discard();
    if (replaced.saved) this.restore(replaced.saved);
    else this.#hasLostPairs ||= replaced.hadPairs;
    return true;
  }

  /** Replaces the state: an answer that was computed here was not committed. */
  replaceState(version: number, positions: Positions): void {
    this.#state = { version, positions };
    this.#invalidateStart();
    this.undo();
  }

  /** The answer of a step becomes the state. Its positions are copied, because the answer is transferred to the main thread. */
  commit(state: HeldState, fitted: FittedFrame): void {
    // The memory of the replaced state is reused if it was allocated here: new memory costs more than the copy.
    const { positions } = state;
    const own = this.#ownPositions;
    const isReusable = own?.length === positions.length && scalarOf(own) === scalarOf(positions);
    if (isReusable) own.set(positions);
    else this.#ownPositions = positions.slice();
    this.#state = { ...state, positions: this.#ownPositions! };
    this.#invalidateStart();
    this.#fitted = { frame: fitted.frame, scalar: fitted.scalar };
    this.#hasLostPairs = false;
    this.#hasPairs = this.#scene !== undefined;
  }

  /** Measures of the held state. */
  measureStart(): StartMeasures {
    if (!this.#startMeasures) {
      const { positions } = this.#state;
      const box = measureBox(positions);
      this.#startMeasures = { box, bounds: findBounds(this.#held.mesh, positions, box) };
    }
    return this.#startMeasures;
  }

  /**
   * The image of the held state under a frame: the engine's own state, if that is equal bit for bit.
   *
   * @throws COORDINATE_RANGE
   */
  startUnder(frame: CoordinateFrame): EnginePositions {
    if (this.#startImage?.frame !== frame) {
      const { engine, positions } = this.#state;
      const isEngines = engine !== undefined && this.#fitted?.frame === frame && frame.isImage(positions, engine);
      this.#startImage = { frame, engine: isEngines ? engine : frame.toEngine(positions, 'start') };
    }
    return this.#startImage.engine;
  }

  /**
   * Computes in advance what the next step will need to know of the held state, in the time between an answer and the
   * next request. Without this call the next step computes the same later, refusals included.
   */
  prepareStart(): void {
    this.measureStart();
    try {
      if (this.#fitted) this.startUnder(this.#fitted.frame);
    } catch (thrown) {
      if (!(thrown instanceof IntersticeError)) throw thrown;
    }
  }

  #invalidateStart(): void {
    this.#startMeasures = undefined;
    this.#startImage = undefined;
  }

  /** Opens the engine's scene or adapts it to these parameters; the proximity set is kept where it is still valid. */
  async prepare(engine: Engine, setup: EngineSetup): Promise<Scene> {
    const { mesh, parameters, chosen } = setup;
    const { frame } = chosen;
    const { floor } = chosen.range;
    const units = { scale: frame.scale, floor };
    // The fault was not that of this step, so it is not refused: the engine opens another device.
    if (this.#scene?.isUsable === false) this.#giveUp();
    await this.#reopen(engine, mesh, frame);
    const before = this.#setup;
    const isOther = before?.mesh !== mesh || before.frame !== frame || before.parameters.method !== parameters.method;
    if (this.#scene && before && isOther) this.discard();
    if (!this.#scene) {
      this.#scene = await engine.open(mesh, parameters, units, undefined, this.#opensAlone);
    } else if (before && (before.floor !== floor || !isSame(before.parameters, parameters))) {
      this.#scene.configure(parameters, units);
    }
    this.#setup = { mesh, parameters, frame, floor };
    return this.#scene;
  }

  /** Opens the engine's scene of a parked session as it was, unless the frame has changed, which invalidates it. */
  async #reopen(engine: Engine, mesh: CollisionMesh, frame: CoordinateFrame): Promise<void> {
    const saved = this.#saved;
    this.#saved = undefined;
    if (!saved || frame !== this.#fitted?.frame) return;
    const { parameters, units } = saved;
    this.#scene = await engine.open(mesh, parameters, units, saved, this.#opensAlone);
    this.#setup = { mesh, parameters, frame, floor: units.floor };
  }

  /**
   * Runs one step. After any failure the engine's scene is not used again. If the device was lost, the step is tried once
   * more: nothing was committed, and the engine opens the device again. So it is, with buffers of its own, if those that
   * scenes share had no memory for it: alone it may need less than half as much. The second attempt begins from the start
   * and may take another path, because the pairs may be lost; no state of the first is part of it.
   *
   * @param beginAnew called between the two attempts
   */
  async resolve(engine: Engine, setup: EngineSetup, input: StepInput, beginAnew: () => void): Promise<Resolution> {
    let wasShared = false;
    const attempt = async () => {
      try {
        return await (await this.prepare(engine, setup)).resolve(input);
      } catch (thrown) {
        wasShared = this.#scene?.isShared === true;
        this.#giveUp();
        throw thrown;
      }
    };
    try {
      return await attempt();
    } catch (thrown) {
      const code = thrown instanceof IntersticeError ? thrown.code : undefined;
      const isShort = wasShared && code === 'OUT_OF_DEVICE_MEMORY';
      if (code !== 'DEVICE_LOST' && !isShort) throw thrown;
      this.#opensAlone ||= isShort;
      beginAnew();
      return await attempt();
    }
  }

  /**
   * Undoes a step that was not accepted. The engine has changed its pairs in place, so the scene returns to what the
   * step began from and the step leaves no trace. If that was not kept, the scene gets an empty proximity set, and the
   * next report says so.
   */
  undo(): void {
    this.#hasLostPairs ||= this.#hadPairs;
    this.#giveUp();
  }

  /** Closes the engine's scene, with the pairs that it had, and returns to what the step began from, if that was kept. */
  #giveUp(): void {
    this.#hasLostPairs ||= this.#hasPairs;
    this.discard();
    if (this.#before) this.restore(this.#before);
  }

  /** Closes the engine's scene; the next step opens another. */
  discard(): void {
    this.#scene?.close();
    this.#scene = undefined;
    this.#setup = undefined;
    this.#saved = undefined;
    this.#hasPairs = false;
  }
}

/** Of a state that the scene no longer holds. */
const NOTHING_KNOWN = { engine: undefined, kinematicPairs: undefined, excluded: undefined };

function isSame(a: Parameters, b: Parameters): boolean {
  return (Object.keys(a) as (keyof Parameters)[]).every((name) => a[name] === b[name]);
}
