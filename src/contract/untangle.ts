import type { ElementPair } from './elements.js';
import type { MeshInput, Positions } from './mesh.js';
import type { ParametersInput } from './parameters.js';
import type { Priority } from './requests.js';

/**
 * From an intersecting start to a free state, as plain data. A *pierce* is a pair of an edge and a triangle with a common
 * point. Pierces that share a pair of triangles form a *contour*, the curve along which two sheets cross. A *region* is a part
 * of a sheet that is on the wrong side of the other one.
 */

/** On which side of the triangles of the inner part the outer part belongs; normals are those of counter-clockwise corners. */
export type LayerSide = 'ALONG_NORMALS' | 'AGAINST_NORMALS';

/** Two parts that lie upon each other. */
export interface LayerHint {
  /** name of a part of the mesh */
  readonly inner: string;
  readonly outer: string;
  /** default ALONG_NORMALS */
  readonly side?: LayerSide;
}

/** What an untangling may be told and how far it may go; every field is optional. */
export interface UntangleOptions {
  readonly layers?: readonly LayerHint[];
  /** ids of contours of the start (ContourReport.id) whose other side is to be the wrong one; bodies cannot be turned */
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
 * CLOSED: the contour closes, or its regions are whole. BORDER: it ends at the borders of one sheet, and cuts a part off it.
 * LOOP: it ends at a vertex that both sheets share. OPEN: it cuts nothing off.
 */
export type ContourKind = 'CLOSED' | 'BORDER' | 'LOOP' | 'OPEN';

/**
 * What decided which side is wrong, the strongest first. SMALLER: the smaller part, also of what lies over another sheet, or between
 * the walls of a fold. COST: the less work of an open contour.
 */
export type ContourReason = 'HINT' | 'BODY' | 'SMALLER' | 'COST';

/** One of the two sheets that cross along a contour. */
export interface ContourSheet {
  /** name of the part of most of its vertices; absent = the mesh has no parts */
  readonly part?: string;
  /** vertices of the region: what is on the wrong side of the other sheet; 0 = nothing of this sheet */
  readonly wrongVertices: number;
  /**
   * on which side of the other sheet's triangles the rest of this sheet is, which is the side that was chosen; absent = the
   * other sheet has no two sides
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
  /** from 0.5, a coin's toss, to 1, certain as far as the hint or the body is right */
  readonly confidence: number;
  /** whether UntangleOptions.turned names it and that had an effect */
  readonly isTurned: boolean;
  /** float32[3·n] the points of its pierces, in order, the caller's unit */
  readonly points: Float32Array;
}

/** |answer − start| over some vertices, the caller's unit; 0 where there are none. */
export interface DisplacementReport {
  readonly vertices: number;
  readonly mean: number;
  readonly max: number;
}

export interface UntangleReport {
  readonly status: UntangleStatus;
  readonly piercesBefore: number;
  readonly piercesAfter: number;
  /** at the beginning of each iteration */
  readonly piercesByIteration: readonly number[];
  /** without those that had not been decided when the budget ended */
  readonly contours: readonly ContourReport[];
  /** of the vertices that were on a wrong side at some time, of what they were pushed through, and of three rings around both */
  readonly regions: DisplacementReport;
  /** of all other vertices */
  readonly outside: DisplacementReport;
  /** Longest edge relative to its length at rest, and shortest; edges of length 0 at rest and between kinematic vertices do not count. */
  readonly maxStretch: number;
  readonly minStretch: number;
  /**
   * What was left out: pierces, summed over the iterations, and vertices that were on a wrong side at some time. Nothing else
   * met.
   */
  readonly leftOutPierces: number;
  readonly leftOutVertices: number;
  /** regions, summed over the iterations, that were not followed to their end: they or their partners reach a limit on their size */
  readonly limitedRegions: number;
  /** of the engine that pushed; the one that pulled back is the engine of the service */
  readonly pushingEngine: string;
  /**
   * Why it ended before its iterations were used or before its pull-back had ended; absent = it did not. NO_PROGRESS: and its pull-back was
   * not cut short.
   */
  readonly ended?: 'TIME_BUDGET' | 'CANCELLED' | 'NO_PROGRESS' | 'MEMORY' | 'LOST_DEVICE';
  /** some of the pairs that are left */
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

export interface UntangleProgress {
  readonly phase: UntanglePhase;
  /** from 1 */
  readonly iteration: number;
  readonly pierces: number;
  readonly contours: number;
  /** that are on a wrong side */
  readonly regionVertices: number;
}
