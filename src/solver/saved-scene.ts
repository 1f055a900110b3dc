import type { ElementPair } from '../contract/elements.js';
import type { Parameters } from '../contract/parameters.js';
import type { EngineUnits } from './engine.js';

/**
 * What a scene holds between two resolves, as plain data that threads can pass on: opened again with it, a scene goes on as if
 * it had never been closed, bit for bit. It holds what searches and steps have left, not what follows from the mesh.
 */
export interface SavedScene {
  /** with which the scene was opened or configured last */
  readonly parameters: Parameters;
  readonly units: EngineUnits;
  /** steps of all resolves so far: they seed the orders of sweeps */
  readonly step: number;
  /** undefined = void, so that the next resolve searches */
  readonly proximity: SavedProximity | undefined;
}

/** P with its validity, as {@link Proximity} (cpu/proximity.ts) describes the fields. */
export interface SavedProximity {
  /** uint8[n], int32[4·n], float32[3·n]: kinds, vertices and last normals of the pairs, in their order */
  readonly kind: Uint8Array;
  readonly vertex: Int32Array;
  readonly normal: Float32Array;
  /** float32[6·V] and their growth, engine units */
  readonly box: Float32Array;
  readonly growth: number;
  /** uint8[V] */
  readonly mask: Uint8Array;
  /** float32[3·V], under the guard RADIUS only, and D */
  readonly searched: Float32Array;
  readonly radius: number;
  readonly partialBudget: number;
  /** engine units */
  readonly worn: number;
  /** pairs whose exclusion the search knew of; undefined = none */
  readonly excluded: readonly ElementPair[] | undefined;
}
