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
  /** of a scene on the host; undefined = void, so that the next resolve searches */
  readonly proximity: SavedProximity | undefined;
  /** of a scene on a device, which has no other; undefined = no search has been prepared yet */
  readonly device?: SavedDeviceScene | undefined;
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

/** What a scene on a device goes on from, as its buffers hold it (gpu/step/scene-buffers.ts). */
export interface SavedDeviceScene {
  /** float32[3·V] engine units: the state that has fixed the order of its trees, and so the order of P */
  readonly orderedAt: Float32Array;
  /** room that the buffers had: a search or a step that finds more than fits goes on in another way */
  readonly pairCapacity: number;
  readonly candidateCapacity: number;
  /** pairs whose exclusion the search knew of; undefined = none */
  readonly excluded: readonly ElementPair[] | undefined;
  /** P with its trust boxes; undefined = void */
  readonly pairs:
    | {
        /** int32[4·n], uint32[n], float32[4·n], float32[n] */
        readonly vertex: Int32Array;
        readonly info: Uint32Array;
        readonly normal: Float32Array;
        readonly distance: Float32Array;
        /** float32[6·V] */
        readonly box: Float32Array;
        /** D(l), under the guard RADIUS */
        readonly radius: number;
      }
    | undefined;
}
