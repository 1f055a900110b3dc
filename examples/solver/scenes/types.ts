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
  /** as printed in the paper, for example "50k, 100k" */
  readonly size: string;
  readonly averageSteps: number;
  readonly maximumSteps: number;
  /** s, on a GeForce GTX 2080 Ti */
  readonly averageCost: number;
  readonly maximumCost: number;
}

/**
 * A line along edges of the mesh, by vertices of the whole model. Its ends, if any, are extended far in two directions.
 */
export interface Strand {
  readonly line: ArrayLike<number>;
  readonly from?: Vec;
  readonly to?: Vec;
}

/**
 * Strands that are joined far away, the last one with the first, to a line that must not pass through itself or another
 * one. No two joined directions are opposite. A single strand without directions is closed as it is.
 */
export type Loop = readonly Strand[];

/** A scene of a certain size, ready to be simulated. Metres, kilograms, seconds; z points up. */
export interface Scene {
  readonly name: string;
  /** what happens, in one sentence */
  readonly sentence: string;
  readonly paper?: PaperRow;
  /** s */
  readonly timeStep: number;
  /** time steps of the whole scene */
  readonly frames: number;
  readonly bodies: readonly Body[];
  /** knots and worn garments: every frame must have the same knot */
  readonly loops?: readonly Loop[];
  /**
   * pairs of loops whose linking numbers are examined, instead of everything else; default: all loops, with their knots
   */
  readonly linked?: readonly (readonly [number, number])[];
  /**
   * bodies from the lowest to the highest, by their indices in `bodies`: in no frame may one lie below another above
   * which it lay
   */
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
  /** of the session; the server's default replaces an absent parameter */
  readonly parameters?: Parameters;
  /** direction of view in pictures */
  readonly view: Vec;
}

export type MakeScene = (size: Size) => Scene;
