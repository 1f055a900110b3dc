import { type Contacts, readContacts } from '../../../examples/solver/src/contacts.js';
import type { CollisionHandler } from '../../../examples/solver/src/integrator.js';
import type { Model } from '../../../examples/solver/src/model.js';
import type { Answer, Parameters, Report } from '../../../examples/solver/src/service.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { measureMesh } from '../../../src/mesh/measure.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { CoordinateFrame, floorOf } from '../../../src/solver/frame.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { type Settings, toSettings } from '../../../src/solver/settings.js';
import { findContacts } from '../../../src/verify/distance.js';
import { testPath } from '../../../src/verify/path.js';
import { findIntersections } from '../../../src/verify/state.js';
import { measureAnswer } from '../measure-answer.js';
import { Algorithm1, type Answer as Ended } from './algorithm-1.js';
import type { Variant } from './variants.js';

const PAIRS = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;

/** Cost and result of a call of a variant. */
export interface CallRecord extends Pick<Ended, 'status' | 'steps' | 'searches'> {
  /** ‖r‖∞ of the answer */
  readonly residual: number;
  /** vertices with r ≥ ε */
  readonly unfinished: number;
  /** processor time, ms */
  readonly cost: number;
  /** the longest edge over its length in the target */
  readonly stretch: number;
  /** pieces of the path with a collision, and pairs of elements that intersect in the answer */
  readonly collidingPieces: number;
  readonly intersections: number;
}

/**
 * Algorithm 1, or a variant of it, instead of the service: preset PAPER, from one target of a solver to the next. The
 * state remains in the engine's coordinates, so that no rounding between two calls can make it intersect.
 */
export class AblatedHandler implements CollisionHandler {
  readonly activationDistance: number;
  readonly contactOffset: number;
  readonly calls: CallRecord[] = [];
  /** float32[3·V] for every piece of the last path, engine units, including its start */
  path: readonly Float32Array[] = [];
  readonly #mesh: CollisionMesh;
  readonly #frame: CoordinateFrame;
  readonly #settings: Settings;
  readonly #edge: number;
  #x: Float32Array;

  /** @param parameters of the scene's session, of which only δ matters. @param stepLimit L of every call */
  constructor(
    model: Model,
    parameters: Parameters,
    readonly variant: Variant,
    readonly stepLimit: number,
  ) {
    const { mesh, masses, isKinematic: kinematic, vertexCount } = model;
    this.#mesh = buildMesh({ vertexCount, ...mesh, masses: Float32Array.from(masses), kinematic });
    const start = Float64Array.from(Float32Array.from(model.start));
    const measures = measureMesh(this.#mesh, start);
    const own = parameters.activationDistance;
    const delta = own === undefined ? {} : { activationDistance: Number(own) };
    const { activationDistance, contactOffset } = resolveParameters(delta, measures).parameters;
    const input: ParametersInput = { preset: 'PAPER', activationDistance, ...variant.parameters };
    const resolved = resolveParameters(input, measures).parameters;
    this.activationDistance = activationDistance;
    this.contactOffset = contactOffset;
    this.#frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
    const units = { scale: this.#frame.scale, floor: floorOf(activationDistance, this.#frame, 'FLOAT64') };
    this.#settings = { ...toSettings(resolved, units), stepLimit };
    this.#edge = measures.medianEdge * this.#frame.scale;
    this.#x = this.#frame.toEngine(start);
  }

  async step(target: Float64Array, contactDistance: number): Promise<Answer> {
    const [mesh, x] = [this.#mesh, this.#x];
    const y = this.#frame.toEngine(target);
    const path: Float32Array[] = [x];
    let [residual, unfinished] = [0, 0];
    const began = process.cpuUsage();
    const onState = (state: Float32Array) => void path.push(state.slice());
    const onProgress = (progress: { residual: number; unfinishedVertices: number }) => {
      ({ residual, unfinishedVertices: unfinished } = progress);
    };
    const input = { x, y, onState, onProgress };
    const ended = new Algorithm1(mesh, this.#settings, input, this.variant.ablation ?? {}).run();
    const cost = process.cpuUsage(began).user / 1000;
    this.path = path;
    this.#x = ended.positions;
    const collidingPieces = path.slice(1).filter((state, k) => !testPath(mesh, path[k]!, state, PAIRS).pathFree).length;
    const { intersectionCount: intersections } = findIntersections(mesh, ended.positions, PAIRS);
    const { stretch } = measureAnswer(mesh, ended.positions, y, this.#edge);
    const { status, steps, searches } = ended;
    this.calls.push({ status, steps, searches, residual, unfinished, cost, stretch, collidingPieces, intersections });
    return {
      positions: this.toCaller(ended.positions),
      contacts: this.#contacts(contactDistance),
      report: {} as Report,
    };
  }

  /** @returns float64[3·V], m */
  toCaller(x: Float32Array): Float64Array {
    const { origin, scale } = this.#frame;
    return Float64Array.from(x, (value, i) => value / scale + origin[i % 3]!);
  }

  #contacts(distance: number): Contacts {
    const { kinds, vertices, weights, normals } = findContacts(
      this.#mesh,
      this.#x,
      PAIRS,
      distance * this.#frame.scale,
    );
    const bytes = (array: Uint8Array | Uint32Array | Float32Array) =>
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    return readContacts({ kinds, vertices: bytes(vertices), weights: bytes(weights), normals: bytes(normals) });
  }
}
