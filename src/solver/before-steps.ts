import type { PathPhase } from '../contract/path.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { StepInput } from './engine.js';
import { FreeFlight } from './flight/free-flight.js';
import { pairLimit } from './pair-budget.js';
import { RigidMotion, type RigidMotions } from './rigid/move-rigidly.js';
import type { Settings } from './settings.js';
import { StepAbandoned } from './step-abandoned.js';

/** The motions before the first step. */
export interface MovedBefore {
  /** straight pieces of the path, each reported as a state; they count as steps */
  readonly pieces: number;
  /** whether time ran out within a piece, which then moved nothing */
  readonly isGivenUp: boolean;
  /** the rigid motion; undefined = there was none */
  readonly rigid: RigidMotions | undefined;
}

/**
 * The motions before the first step of Algorithm 1, made on the host for every engine: first groups as a whole, then
 * single vertices with very distant targets. Both are straight pieces of the path that are tested as a whole; steps
 * would make these motions leap by leap.
 */
export class BeforeSteps {
  readonly #mesh: CollisionMesh;
  readonly #pairLimit: number;
  readonly #rigid: RigidMotion;

  /** @param limit pairs that a scene may hold (pair-budget.ts) */
  constructor(mesh: CollisionMesh, limit = pairLimit(undefined)) {
    this.#mesh = mesh;
    this.#pairLimit = limit;
    this.#rigid = new RigidMotion(mesh);
  }

  /** Bytes kept between requests. */
  get bytes(): number {
    return this.#rigid.bytes;
  }

  /**
   * @param settings lengths in engine units
   * @param x float32[3·V] the start; moved in place, piece by piece
   * @param pulse called at short intervals; may throw {@link StepAbandoned} to abandon a piece
   */
  move(settings: Settings, input: StepInput, x: Float32Array, pulse: () => void): MovedBefore {
    const { y: target, excluded } = input;
    let pieces = 0;
    const mayContinue = () => pieces < settings.stepLimit && !input.shouldStop?.();
    const tell = (phase: PathPhase) => (state: Float32Array) => {
      pieces++;
      input.onState?.(state, { phase, step: pieces });
    };
    const run = { x, target, excluded, pulse, mayContinue };
    let rigid: RigidMotions | undefined;
    try {
      rigid = this.#rigid.move(settings, { ...run, onPiece: tell('RIGID') });
      new FreeFlight(this.#mesh, settings, this.#pairLimit).fly({ ...run, onPiece: tell('FLIGHT') });
    } catch (thrown) {
      if (!(thrown instanceof StepAbandoned)) throw thrown;
      return { pieces, isGivenUp: true, rigid };
    }
    return { pieces, isGivenUp: false, rigid };
  }
}
