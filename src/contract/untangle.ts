import type { ElementPair } from './elements.js';
import type { MeshInput, Positions } from './mesh.js';
import type { ParametersInput } from './parameters.js';
import type { Priority } from './requests.js';

/**
 * From an intersecting start to a free state, as plain data. A *pierce* is a pair of an edge and a triangle with a
 * common point. Pierces that share a pair of triangles form a *contour*, the curve along which two sheets cross. A
 * *region* is a part of a sheet that is on the wrong side of the other one.
 */

/**
 * The side of the inner part's triangles on which the outer part belongs; normals are those of counter-clockwise
 * corners.
 */
export type LayerSide = 'ALONG_NORMALS' | 'AGAINST_NORMALS';

/** Two parts that lie on top of each other. */
export interface LayerHint {
  /** name of a part of the mesh */
  readonly inner: string;
  readonly outer: string;
  /** default ALONG_NORMALS */
  readonly side?: LayerSide;
}

/** Hints and limits of an untangling; every field is optional. */
export interface UntangleOptions {
  readonly layers?: readonly LayerHint[];
  /** ids of contours of the start (ContourReport.id) whose other side is taken as wrong; bodies cannot be turned */
  readonly turned?: readonly number[];
  /** ≥ 1; default 60 */
  readonly maxIterations?: number;
  /** > 0, the caller's unit: no vertex ends farther from its start than this; absent = no limit */
  readonly maxDisplacement?: number;
}

export interface UntangleRequest extends UntangleOptions {
  readonly mesh: MeshInput;
  readonly positions: Positions;
  readonly parameters: ParametersInput;
  readonly timeBudgetSeconds?: number;
  readonly priority?: Priority;
}

/** FREE: no pierce is left, exactly. PARTIAL: fewer than before. UNRESOLVED: as many as before; the positions are those of the start. */
export type UntangleStatus = 'FREE' | 'PARTIAL' | 'UNRESOLVED';

/**
 * CLOSED: the contour closes, or its regions are whole. BORDER: it ends at the borders of one sheet, and cuts a part
 * off it. LOOP: it ends at a vertex that both sheets share. OPEN: it cuts nothing off.
 */
export type ContourKind = 'CLOSED' | 'BORDER' | 'LOOP' | 'OPEN';

/**
 * What decided which side is wrong, the strongest first. SMALLER: the smaller part, also of the area over another sheet
 * or between the walls of a fold. COST: the side of an open contour that needs less work.
 */
export type ContourReason = 'HINT' | 'BODY' | 'SMALLER' | 'COST';

/** One of the two sheets that cross along a contour. */
export interface ContourSheet {
  /** name of the part of most of its vertices; absent = the mesh has no parts */
  readonly part?: string;
  /** vertices of the region on the wrong side of the other sheet; 0 = nothing of this sheet */
  readonly wrongVertices: number;
  /**
   * the chosen side of the other sheet's triangles, where the rest of this sheet is; absent = the other sheet has no
   * two sides
   */
  readonly side?: LayerSide;
}

/** A contour of the start. */
export interface ContourReport {
  /** from 0; the same for the same mesh and positions, whatever the other options */
  readonly id: number;
  readonly kind: ContourKind;
  readonly pierces: number;
  readonly sheets: readonly [ContourSheet, ContourSheet];
  readonly why: ContourReason;
  /** from 0.5 (arbitrary) to 1 (certain, provided that the hint or the body is right) */
  readonly confidence: number;
  /** whether UntangleOptions.turned names it and that had an effect */
  readonly isTurned: boolean;
  /** float32[3·n] the points of its pierces, in order, the caller's unit */
  readonly points: Float32Array;
}

/** |answer − start| over some vertices, the caller's unit; 0 if there are none. */
export interface DisplacementReport {
  readonly vertices: number;
  readonly mean: number;
  readonly max: number;
}

export interface UntangleReport {
  readonly status: UntangleStatus;
  readonly piercesBefore: number;
  readonly piercesAfter: number;
  /**
   * Pierces of the state at which each iteration begins, then of the state that would be next. An iteration that
   * returns to the best state begins there.
   */
  readonly piercesByIteration: readonly number[];
  /** without those that were still undecided when the budget ended */
  readonly contours: readonly ContourReport[];
  /**
   * of the vertices that were on a wrong side at some time, of those that they were pushed through, and of three rings
   * around both
   */
  readonly regions: DisplacementReport;
  /** of all other vertices */
  readonly outside: DisplacementReport;
  /**
   * Longest edge relative to its length at rest, and shortest; without edges of length 0 at rest or between kinematic
   * vertices.
   */
  readonly maxStretch: number;
  readonly minStretch: number;
  /**
   * Pierces that were left out, summed over the iterations; below, vertices that were on a wrong side at some time.
   * Nothing else met.
   */
  readonly leftOutPierces: number;
  readonly leftOutVertices: number;
  /**
   * regions, summed over the iterations, not followed to their end because they or their partners reach a size limit
   */
  readonly limitedRegions: number;
  /** of the engine that pushed; the engine of the service pulled back */
  readonly pushingEngine: string;
  /**
   * Why it ended before its iterations were used or before its pull-back had ended; absent = it did not. NO_PROGRESS:
   * its pull-back was not cut short.
   */
  readonly ended?: 'TIME_BUDGET' | 'CANCELLED' | 'NO_PROGRESS' | 'MEMORY' | 'LOST_DEVICE';
  /** some of the remaining pairs */
  readonly remaining: readonly ElementPair[];
}

export interface UntangleAnswer {
  /** in the scalar of the start */
  readonly positions: Positions;
  readonly report: UntangleReport;
  /** int32[V] the contour of the start in whose region the vertex was; −1 = in none. −2 = in one of a later contour. */
  readonly regions: Int32Array;
}

export type UntanglePhase = 'UNTANGLING' | 'PULLING_BACK' | 'CHECKING_ANSWER';

/** Of the state at which the iteration begins or, in later phases, of that at which the pull-back begins. */
export interface UntangleProgress {
  readonly phase: UntanglePhase;
  /** from 1; in later phases the last one */
  readonly iteration: number;
  readonly pierces: number;
  readonly contours: number;
  /** vertices that are on a wrong side */
  readonly regionVertices: number;
}
