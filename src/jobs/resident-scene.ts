import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { KinematicPairs, Parameters, VerifyLevel } from '../contract/parameters.js';
import { bytesOf } from '../mesh/bytes.js';
import type { ExcludedPairs } from '../mesh/excluded-pairs.js';
import { findBounds } from '../mesh/measure.js';
import { type Box, measureBox } from '../mesh/positions.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import type { CoordinateFrame } from '../solver/frame.js';
import type { Engine, EnginePositions, Resolution, Scene, StepInput } from '../solver/types.js';
import { keptFor } from '../verify/mesh-tree.js';
import type { StateFindings } from '../verify/types.js';
import { scalarOf } from './include.js';
import type { ChosenFrame, FittedFrame } from './scene-frame.js';

/** What is known of a state from its having been tested. */
export interface Verified {
  readonly level: VerifyLevel;
  readonly kinematicPairs: KinematicPairs;
  readonly findings: StateFindings;
}

/** One state of a session, as its worker holds it. */
export interface HeldState {
  readonly version: number;
  /** [3·V] the caller's numbers */
  readonly positions: Positions;
  /** its image under the scene's frame, if that is the engine's own state or has passed the check of rounding */
  readonly engine: EnginePositions | undefined;
  /** undefined = not tested here, or not under the present mesh */
  readonly verified: Verified | undefined;
  /** what the step that led here excluded; forgotten with the scene, when only what still intersects is excluded again */
  readonly excluded?: ExcludedPairs | undefined;
}

export interface HeldMesh {
  readonly version: number;
  /** as it was sent, for the reproduction of a finding */
  readonly input: MeshInput;
  readonly mesh: CollisionMesh;
}

/** What a step asks of its start: box and bounds (of the vertices that belong to an element) in the caller's unit. */
export interface StartMeasures {
  readonly box: Box;
  readonly bounds: MeshMeasures['bounds'];
}

/** What an engine scene is made for; another mesh or frame needs another scene. */
interface EngineSetup {
  readonly mesh: CollisionMesh;
  readonly parameters: Parameters;
  readonly chosen: ChosenFrame;
}

/**
 * One session in its worker: a cache of what the session room holds, and the engine's scene with its proximity set. A step
 * reads it and, only when its answer is complete, changes it ({@link commit}).
 */
export class ResidentScene {
  /** ms that the last exact test of a state took: what a time budget keeps back for the test of the answer */
  checkMs = 0;
  /** the engine's scene went down with its device and has not been used since */
  hasLostDevice = false;
  #held: HeldMesh;
  #state: HeldState;
  #fitted: FittedFrame | undefined;
  /** found once for each state; undefined = not yet */
  #startMeasures: StartMeasures | undefined;
  /** of the held state under one frame */
  #startImage: { readonly frame: CoordinateFrame; readonly engine: EnginePositions } | undefined;
  /** an array that {@link commit} has made, and may write into again */
  #room: Positions | undefined;
  #scene: Scene | undefined;
  #setup: EngineSetup | undefined;

  /** @param measures of frame 0: defaults come from them for as long as the session lives, so that δ does not drift */
  constructor(
    readonly measures: MeshMeasures,
    mesh: HeldMesh,
    state: HeldState,
  ) {
    this.#held = mesh;
    this.#state = state;
  }

  get held(): HeldMesh {
    return this.#held;
  }

  get state(): HeldState {
    return this.#state;
  }

  get fitted(): FittedFrame | undefined {
    return this.#fitted;
  }

  /**
   * All that lives as long as this scene does: the engine's scene, the mesh as sent and as built, what the verifier keeps
   * for it, the state with its images. What all scenes of a lane share is not in it (ResidentScenes.sharedBytes).
   */
  get bytes(): number {
    const { mesh, input } = this.#held;
    const { positions, engine } = this.#state;
    const image = this.#startImage?.engine;
    // The next step's start is mapped when the answer has left: counted before, so that the count does not change by it.
    const toCome = image || engine ? 0 : Float32Array.BYTES_PER_ELEMENT * positions.length;
    return (
      bytesOf(mesh, input, keptFor(mesh), positions, this.#room, engine, image) + toCome + (this.#scene?.bytes ?? 0)
    );
  }

  /** Another mesh (kinematic flags, masses): nothing that was found with the old one holds. */
  replaceMesh(mesh: HeldMesh): void {
    this.#held = mesh;
    this.#state = { ...this.#state, verified: undefined };
    this.#startMeasures = undefined;
    this.discard();
  }

  /**
   * Another state than the one held: an answer that was computed here was not committed. The proximity set is discarded as
   * well, so that a step that never happened leaves no trace but one more search.
   */
  replaceState(version: number, positions: Positions): void {
    this.#state = { version, positions, engine: undefined, verified: undefined };
    this.#forgetStart();
    this.discard();
  }

  /** The answer of a step becomes the state. Its positions are copied: they travel on. */
  commit(state: HeldState, fitted: FittedFrame): void {
    // Into the memory of the state that it replaces, if that was made here: new memory costs more than the copy.
    const { positions } = state;
    const isRoom = this.#room?.length === positions.length && scalarOf(this.#room) === scalarOf(positions);
    if (isRoom) this.#room!.set(positions);
    else this.#room = positions.slice();
    this.#state = { ...state, positions: this.#room! };
    this.#forgetStart();
    this.#fitted = { frame: fitted.frame, scalar: fitted.scalar };
    this.hasLostDevice = false;
  }

  /** Of the held state. */
  measureStart(): StartMeasures {
    if (!this.#startMeasures) {
      const { positions } = this.#state;
      const box = measureBox(positions);
      this.#startMeasures = { box, bounds: findBounds(this.#held.mesh, positions, box) };
    }
    return this.#startMeasures;
  }

  /**
   * The held state's image under a frame: the engine's own state, if that is it bit for bit.
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
   * Finds out about the held state what its next step will ask for, if all stays as it is. For the time between an answer
   * and the next request: whoever does not call it pays later, and gets the same, refusals included.
   */
  getReady(): void {
    this.measureStart();
    try {
      if (this.#fitted) this.startUnder(this.#fitted.frame);
    } catch (thrown) {
      if (!(thrown instanceof IntersticeError)) throw thrown;
    }
  }

  #forgetStart(): void {
    this.#startMeasures = undefined;
    this.#startImage = undefined;
  }

  /** Makes the engine's scene ready for these parameters; keeps its proximity set where that still holds. */
  async prepare(engine: Engine, setup: EngineSetup): Promise<Scene> {
    const { mesh, parameters, chosen } = setup;
    const units = { scale: chosen.frame.scale, floor: chosen.range.floor };
    const before = this.#setup;
    if (this.#scene && before && (before.mesh !== mesh || before.chosen.frame !== chosen.frame)) this.discard();
    if (!this.#scene) {
      this.#scene = await engine.open(mesh, parameters, units);
    } else if (before && (before.chosen.range.floor !== chosen.range.floor || !isSame(before.parameters, parameters))) {
      this.#scene.configure(parameters, units);
    }
    this.#setup = setup;
    return this.#scene;
  }

  /**
   * Runs one step. Whatever the engine throws, its scene is not used again. A device that was lost before the step had
   * any effect costs one more attempt: nothing was committed, and the engine opens the device anew.
   */
  async resolve(engine: Engine, setup: EngineSetup, step: StepInput): Promise<Resolution> {
    let hasEffect = false;
    const { onState } = step;
    const heard: StepInput = onState
      ? {
          ...step,
          onState: (x) => {
            hasEffect = true;
            onState(x);
          },
        }
      : step;
    const attempt = async () => {
      try {
        return await (await this.prepare(engine, setup)).resolve(heard);
      } catch (thrown) {
        this.discard();
        throw thrown;
      }
    };
    try {
      return await attempt();
    } catch (thrown) {
      if (!(thrown instanceof IntersticeError) || thrown.code !== 'DEVICE_LOST') throw thrown;
      this.hasLostDevice = true;
      if (hasEffect) throw thrown;
      return await attempt();
    }
  }

  /** Closes the engine's scene; the next step opens another. */
  discard(): void {
    this.#scene?.close();
    this.#scene = undefined;
    this.#setup = undefined;
  }
}

function isSame(a: Parameters, b: Parameters): boolean {
  return (Object.keys(a) as (keyof Parameters)[]).every((name) => a[name] === b[name]);
}
