import type { Positions } from './mesh.js';

/** What led to a state of a path; the index in this list is the value of the contract's enum Phase. */
export const PATH_PHASES = [
  'PHASE_UNSPECIFIED',
  'START',
  'ROUNDED',
  'RIGID',
  'FLIGHT',
  'FORWARD',
  'ARRIVAL',
  'PULL_BACK',
  'SHORTENING',
  'IMPULSES',
] as const;

export type PathPhase = Exclude<(typeof PATH_PHASES)[number], 'PHASE_UNSPECIFIED'>;

/** The origin of a state of a path. */
export interface StateOrigin {
  readonly phase: PathPhase;
  /** the step that led to it, as counted by Report.steps; for an untangling its iteration, from 1; 0 = none */
  readonly step: number;
  /** for an untangling, the pairs that were left out on the way there; absent = none */
  readonly leftOut?: readonly LeftOutRegion[];
}

/**
 * Pairs that an iteration of an untangling leaves out, besides the proximity pairs that intersect where it begins:
 * those of an element with one of these vertices and an element that has all its vertices in the patch.
 */
export interface LeftOutRegion {
  readonly vertices: readonly number[];
  readonly patch: readonly number[];
}

/** The N states on the way to an answer. Between two states all vertices move on straight lines, at the same pace. */
export interface Path {
  /** uint8[N], values of the contract's enum Phase. */
  readonly phases: Uint8Array;
  /** uint32[N], ascending. */
  readonly steps: Uint32Array;
  /** [3·V·N], in the caller's unit: the start first, the answer last. */
  readonly positions: Positions;
}

/** What holds a vertex; the index in this list is the value of the contract's enum Hold. */
export const HOLDS = [
  'HOLD_UNSPECIFIED',
  'REACHED',
  'CONTACT',
  'EDGE',
  'OUT_OF_TIME',
  'OUT_OF_STEPS',
  'BOX',
  'SETTLED',
  'OUT_OF_RANGE',
] as const;

export type Hold = Exclude<(typeof HOLDS)[number], 'HOLD_UNSPECIFIED'>;

/** For each vertex, what holds it where it is. P pairs hold vertices. */
export interface Reasons {
  /** uint8[V], values of the contract's enum Hold. */
  readonly holds: Uint8Array;
  /** uint32[V], index of the pair that holds the vertex most; 0xFFFFFFFF = none does. */
  readonly pairs: Uint32Array;
  /** uint32[V], the step in which that pair first stopped or pushed the vertex, and has since; 0 = not known. */
  readonly since: Uint32Array;
  /** uint8[P], values of the contract's enum Kind; VERTEX_VERTEX for the ends of an edge. */
  readonly kinds: Uint8Array;
  /** uint32[4·P], side a, then side b; padded with 0xFFFFFFFF. */
  readonly vertices: Uint32Array;
  /** float32[3·P], unit vectors from b to a. */
  readonly normals: Float32Array;
  /** float32[P], in the caller's unit: the gap, or the length of the edge. */
  readonly distances: Float32Array;
}
