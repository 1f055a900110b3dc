import type { Body, Vec } from '../src/bodies.js';
import type { FrictionSettings } from '../src/friction.js';
import type { Coupling } from '../src/integrator.js';
import type { Parameters } from '../src/service.js';

/** small: seconds, for tests; quarter: about a quarter of the paper's vertices; full: the paper's size. */
export type Size = 'small' | 'quarter' | 'full';
export const SIZES: readonly Size[] = ['small', 'quarter', 'full'];

/** A row of table 1 of "Fast GPU-Based Two-Way Continuous Collision Handling" (Wang et al. 2023). */
export interface PaperRow {
  readonly name: string;
  /** as printed there, for example "50k, 100k" */
  readonly size: string;
  readonly averageSteps: number;
  readonly maximumSteps: number;
  /** s, on a GeForce GTX 2080 Ti */
  readonly averageCost: number;
  readonly maximumCost: number;
}

/** A line along edges of the mesh, by vertices of the whole model. Its ends, if any, are led away far into two directions. */
export interface Strand {
  readonly line: ArrayLike<number>;
  readonly from?: Vec;
  readonly to?: Vec;
}

/**
 * Strands that are joined far away, the last one with the first, to a line that must not pass through itself or another one. No two directions that are joined are
 * opposite. A single strand without directions is closed as it is.
 */
export type Loop = readonly Strand[];

/** A scene of a certain size, ready to be simulated. Metres, kilograms, seconds; z points up. */
export interface Scene {
  readonly name: string;
  /** what happens, in a sentence */
  readonly sentence: string;
  readonly paper?: PaperRow;
  /** s */
  readonly timeStep: number;
  /** time steps of the whole scene */
  readonly frames: number;
  readonly bodies: readonly Body[];
  /** what is knotted or worn: every frame must have the same knot */
  readonly loops?: readonly Loop[];
  /** pairs of loops of which the linking number is looked at, and nothing else; default: all loops, with the knots that they are */
  readonly linked?: readonly (readonly [number, number])[];
  /** bodies from the lowest to the highest, by their places in `bodies`: in every frame none may lie below one that it lay above */
  readonly pile?: readonly number[];
  /** m/s²; default: the earth's */
  readonly gravity?: Vec;
  /** Newton iterations of a time step; default 1 */
  readonly iterations?: number;
  /** whether the service is called after each of them (the default), or after the last */
  readonly coupling?: Coupling;
  readonly friction?: FrictionSettings;
  /** see RepulsionSettings, 1/s²; default 1e5; 0 = none */
  readonly repulsionStiffness?: number;
  /** of the session; what is absent has the server's default */
  readonly parameters?: Parameters;
  /** direction of view in pictures */
  readonly view: Vec;
}

export type MakeScene = (size: Size) => Scene;
