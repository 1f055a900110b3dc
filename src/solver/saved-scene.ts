import type { ElementPair } from '../contract/elements.js';
import type { Parameters } from '../contract/parameters.js';
import type { EngineUnits } from './engine.js';
import { PAIR_KINDS } from './pair-kinds.js';

/**
 * The data that a scene holds between two resolves, as plain data that threads can exchange: a scene opened with it
 * continues as if it had never been closed, bit for bit. It contains the results of searches and steps, not data that
 * follow from the mesh.
 */
export interface SavedScene {
  /** with which the scene was last opened or configured */
  readonly parameters: Parameters;
  readonly units: EngineUnits;
  /** steps of all resolves so far: they seed the orders of sweeps */
  readonly step: number;
  /** for a scene on the host; undefined = invalid, so that the next resolve searches */
  readonly proximity: SavedProximity | undefined;
  /** for a scene on a device, which has no other data; undefined = no search has been prepared yet */
  readonly device?: SavedDeviceScene | undefined;
}

/** P with its validity, as {@link Proximity} (cpu/proximity.ts) describes the fields. */
export interface SavedProximity {
  /** uint8[n], int32[4·n], float32[3·n]: kinds, vertices and last normals of the pairs, in their order */
  readonly kind: Uint8Array;
  readonly vertex: Int32Array;
  readonly normal: Float32Array;
  /** float32[6·V] boxes and their growth, engine units */
  readonly box: Float32Array;
  readonly growth: number;
  /** uint8[V] */
  readonly mask: Uint8Array;
  /** float32[3·V], only under the guard RADIUS, and D */
  readonly searched: Float32Array;
  readonly radius: number;
  readonly partialBudget: number;
  /** engine units */
  readonly worn: number;
  /** excluded pairs that the search took into account; undefined = none */
  readonly excluded: readonly ElementPair[] | undefined;
}

/** The data from which a scene on a device continues, as in its buffers (gpu/step/scene-buffers.ts). */
export interface SavedDeviceScene {
  /** float32[3·V] engine units: the state that has fixed the order of its trees, and so the order of P */
  readonly orderedAt: Float32Array;
  /** room of the buffers, because a search or a step that finds more than fits proceeds differently */
  readonly pairCapacity: number;
  readonly candidateCapacity: number;
  /** excluded pairs that the search took into account; undefined = none */
  readonly excluded: readonly ElementPair[] | undefined;
  /** P with its trust boxes; undefined = invalid */
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

/**
 * Whether data of another process are such a scene of a mesh with this many vertices: no array is too short or too long, and no
 * pair names a vertex that the mesh does not have. It does not say that the numbers are those that the other process computed.
 */
export function isSavedScene(scene: SavedScene, vertexCount: number): boolean {
  const { parameters, units, step, proximity, device } = scene;
  return (
    isRecord(parameters) &&
    isRecord(units) &&
    areNumbers(units.scale, units.floor) &&
    isCount(step) &&
    (proximity === undefined || isProximity(proximity, vertexCount)) &&
    (device === undefined || isDeviceScene(device, vertexCount))
  );
}

function isProximity(saved: SavedProximity, vertexCount: number): boolean {
  const { kind, vertex, normal, box, growth, mask, searched, radius, partialBudget, worn, excluded } = saved;
  return (
    kind instanceof Uint8Array &&
    kind.every((one) => one < PAIR_KINDS.length) &&
    arePairs(vertex, kind.length, vertexCount) &&
    isFloats(normal, 3 * kind.length) &&
    isFloats(box, 6 * vertexCount) &&
    mask instanceof Uint8Array &&
    mask.length === vertexCount &&
    (isFloats(searched, 0) || isFloats(searched, 3 * vertexCount)) &&
    areNumbers(growth, radius, partialBudget, worn) &&
    isListOrAbsent(excluded)
  );
}

function isDeviceScene(saved: SavedDeviceScene, vertexCount: number): boolean {
  const { orderedAt, pairCapacity, candidateCapacity, excluded, pairs } = saved;
  const isWhole =
    isFloats(orderedAt, 3 * vertexCount) &&
    isCount(pairCapacity) &&
    isCount(candidateCapacity) &&
    isListOrAbsent(excluded);
  if (!isWhole || !pairs) return isWhole;
  const { vertex, info, normal, distance, box, radius } = pairs;
  return (
    info instanceof Uint32Array &&
    info.length <= pairCapacity &&
    arePairs(vertex, info.length, vertexCount) &&
    isFloats(normal, 4 * info.length) &&
    isFloats(distance, info.length) &&
    isFloats(box, 6 * vertexCount) &&
    areNumbers(radius)
  );
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null;
const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
const areNumbers = (...values: readonly number[]): boolean =>
  values.every((value) => typeof value === 'number' && !Number.isNaN(value));
const isListOrAbsent = (list: unknown): boolean => list === undefined || Array.isArray(list);
const isFloats = (array: unknown, length: number): boolean => array instanceof Float32Array && array.length === length;
/** Unused places of a pair are −1. */
const arePairs = (vertex: Int32Array, count: number, vertexCount: number): boolean =>
  vertex instanceof Int32Array && vertex.length === 4 * count && vertex.every((v) => v >= -1 && v < vertexCount);
