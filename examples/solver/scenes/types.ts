import type { Body, Vec } from '../src/bodies.js';
import type { FrictionSettings } from '../src/friction.js';
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
  /** m/s²; default: the earth's */
  readonly gravity?: Vec;
  /** Newton iterations of a time step; default 1 */
  readonly iterations?: number;
  readonly friction?: FrictionSettings;
  /** see RepulsionSettings, 1/s²; default 1e5; 0 = none */
  readonly repulsionStiffness?: number;
  /** of the session; what is absent has the server's default */
  readonly parameters?: Parameters;
  /** direction of view in pictures */
  readonly view: Vec;
}

export type MakeScene = (size: Size) => Scene;
