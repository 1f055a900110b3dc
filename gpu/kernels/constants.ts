import { NO_CORNER } from '../../src/mesh/strain.js';
import {
  AIM_GROWTH,
  BOX_LOSS,
  CLOSED_CHEAPER,
  CLOSED_SHARE,
  COMPLETE_EVERY,
  CONTACTS_PER_VERTEX,
  ERROR_FACTOR,
  EXCESS_WEIGHT,
  FACE_SHARE,
  FALLEN_SHARE,
  FLATTEST_STRAIN,
  FREE_STEPS,
  GRANTED_SHARE,
  GUARD_SHARE,
  HEAP_MIN_GAIN,
  HEAP_SHORTENING_GAIN,
  HELD_STRAIN,
  HOLD_BACK_PASSES,
  JAMMED_ALPHA,
  JAMMED_SHARE,
  KEPT,
  LEAF_SIZE,
  LEAP_PROGRESS,
  LONG_SPREAD,
  MAX_HELD_SHORTENINGS,
  MAX_HELD_STEPS,
  MAX_MOMENTUM,
  MAX_POOR_SHORTENINGS,
  MAX_POOR_STEPS,
  MAX_STRAIN_MOMENTUM,
  MAX_STRAIN_SLACK,
  MIN_AREA_SHARE,
  MIN_DELTA_SHARE,
  MIN_MOVABLE_WEIGHT,
  MIN_SHORTENING_GAIN,
  MIN_SHORTFALL_WEIGHT,
  MIN_SINE,
  MORE_SWEEPS,
  MOST_RESUMPTIONS,
  NEAR_LIMIT,
  PARTIAL_SHARE,
  PASSIVE,
  RECOVERY,
  SHORTFALL_WEIGHT,
  STALE_GAP,
  STOPPED_SHARE,
  STOPPED_STEPS,
  STUCK_SHARE,
  STUCK_STEPS,
  SWEPT_EXCESS,
  SWEPT_STRAIN,
  TRAVEL,
  TRUSTED_SHARE,
  UNDERFLOW_ERROR,
  UNIT_ROUNDOFF,
  WINDOW,
} from '../../src/solver/constants.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from '../../src/solver/pair-kinds.js';
import { MAX_GROUPS, WORKGROUP_SIZE } from '../device/dispatch.js';
import { SET_OF_SLOTS, WALK_OF_KIND } from './structs.js';

/*
 * Every number that TypeScript and WGSL both use is defined in TypeScript, here or in src/solver. A kernel that names
 * one of them receives its declaration when it is assembled (gpu/shaders.ts); WGSL files declare only what TypeScript
 * does not use.
 */

/** The largest workgroup that every adapter allows, for kernels of a single workgroup. */
const TAIL_THREADS = 256;

/** One workgroup sweeps the last colours of edges: all after the last colour with more edges than this. */
export const TAIL_EDGES = 2048;

/**
 * Largest number of vertices of a mesh whose pull-back sweeps in one workgroup: their terms of a sum fit its memory, of
 * which every adapter has 16 KiB.
 */
export const SMALL_VERTICES = 3072;

/**
 * Values of Control.state. Those with NEEDS are pauses: the host must search, provide room, or record another phase,
 * another round of sweeps or the rounds of a sweep of many contacts. The next two hold between the rounds of sweeps of a
 * step, which wants another one, or skips those that are recorded. ENDS_PIECES holds while a forward step of the
 * pull-back skips the pieces that are recorded. The host reads none of these three.
 */
export const STATE = {
  RUNNING: 0,
  CONVERGED: 1,
  STALLED: 2,
  AT_STEP_LIMIT: 3,
  NEEDS_SEARCH: 4,
  NEEDS_ROOM: 5,
  NEEDS_CANDIDATES: 6,
  NEEDS_PHASE: 7,
  NEEDS_SWEEPS: 8,
  NEEDS_ROUNDS: 9,
  WANTS_SWEEPS: 10,
  SKIPS_SWEEPS: 11,
  ENDS_PIECES: 12,
} as const;

/**
 * What the steps of a run do, in Control.phase: Algorithm 1; the pull-back; its last steps, which only shorten edges;
 * its finer steps, before these, which are those of PULL with other parameters; steps of PULL again, after the last
 * ones; steps of PULL for the vertices that no row pushes, before the last ones; and before these, for the vertices
 * that nothing keeps far from their targets. PHASE_PULL and so on in WGSL.
 */
export const PHASE = { ADVANCE: 0, PULL: 1, SHORTEN: 2, REFINE: 3, RESUME: 4, RELEASE: 5, OTHERS: 6 } as const;
export type Phase = (typeof PHASE)[keyof typeof PHASE];

/**
 * What is requested of a search, in Control.wantsSearch and SearchControl.mode; SEARCH_NONE and so on in WGSL. RESUME:
 * there is now the room for P that the last search needed, and P only has to be written.
 */
export const SEARCH_MODE = { NONE: 0, PART: 1, ALL: 2, RESUME: 3 } as const;
export type SearchMode = (typeof SEARCH_MODE)[keyof typeof SEARCH_MODE];

/**
 * Indices of the indirect dispatches in stepArguments, three words each, which `decide` writes: one workgroup; a thread
 * per vertex; a thread per pair; a whole search; a thread per edge; the groups of a sum; a thread per vertex if y is
 * rebuilt or the state is the best so far; a thread per pair if multipliers outlive the previous search; a thread per
 * vertex and per edge, whichever are more; then one for each wide colour of edges. STEP_SLOT_ONE and so on in WGSL.
 */
export const STEP_SLOT = {
  ...{ ONE: 0, VERTICES: 1, PAIRS: 2, SEARCH: 3 },
  ...{ EDGES: 4, SUMS: 5, AIMS: 6, CARRIED: 7, OPENING: 8, FIRST_EDGES: 9 },
} as const;

/** Largest number of workgroups of a sum over vertices or edges; each writes one partial sum (pull-back/sums.wgsl). */
export const SUM_GROUPS = 4 * WORKGROUP_SIZE;

/**
 * Indices in candidateArguments: a thread per candidate (afterGeometry), per pair that may be a contact
 * (listForGeometry), per pair of the forward step (listForBound), and the number of indices. LIST_SLOT_CANDIDATES and
 * so on in WGSL.
 */
export const LIST_SLOT = { CANDIDATES: 0, NEAR: 1, ACTIVE: 2, COUNT: 3 } as const;

/** Largest number of rounds of a contact sweep that are whole dispatches. */
export const MOST_ROUNDS = 255;

/** Bits of VertexStep.flags. */
export const VERTEX_FLAG = { MOVING: 1, MOVABLE: 2, REVERTED: 4, STUCK: 8 } as const;

/** VertexPull.lastPull: a bit each. */
const LAST_PULL = { WAS_HELD: 1, DID_WANT: 2, WANTS: 4, IS_KEPT: 8 } as const;

/** A vertex that no pair has bounded. */
export const NO_PAIR = 0xffffffff;

/** Above every α: the value of a slot whose pair bounds nothing. */
export const NO_BOUND = 2;

/** pairInfo contains the kind in its low bits and, above them, the clock of the step in which the pair was measured. */
export const KIND_MASK = 3;
export const STAMP_SHIFT = 2;

/**
 * An entry of a list of pairs: the index, above it the kind, and the top bit, set if the pair was measured in this
 * step.
 */
export const INDEX_MASK = 0x1fffffff;
const ENTRY = { INDEX_MASK, KIND_SHIFT: 29, IS_CURRENT: 0x80000000 } as const;

/** Words per candidate of the buffer `contacts` (contact-words.wgsl). */
export const CONTACT_WORDS = 16;

/** Words of a chunk of finds (walk-pairs.wgsl), the last of which is the index of the next chunk. */
export const CHUNK_WORDS = 8;

/** Pairs of the old P that a thread of a partial search marks in one word (search/marks.wgsl). */
export const MARKED_PAIRS = 16;

/** Entries of a block of a prefix sum. */
export const SCAN_BLOCK = 1024;

/** Nodes of one level that a workgroup of refit.wgsl handles: one per thread. */
export const REFIT_NODES = WORKGROUP_SIZE;

/** Bits, of vertices or slots, in one word. */
export const MARKS_PER_WORD = 32;

/** Top bit of a vertex's part, set if the vertex is on a seam. There are far fewer parts. */
export const ON_SEAM = 0x80000000;

/** The bits of 1 as f32: an α that no pair has reduced. */
const ONE_BITS = 0x3f800000;

/** The part of an element whose vertices belong to different parts. */
export const NO_PART = 0xffffffff;

/**
 * Slack of a dropped pair's separation, in L, the largest sum of the sizes of the terms of a height of its boxes'
 * corners (search/walk-pairs.wgsl). Each of the two heights that are compared errs by 4u L. Heights count from a
 * point in one of the boxes, so the separation is at most L: its sum, and that of the cut and the slack, err by u L each.
 * Together 10u L. A height along n bounds a distance only times |n|, which exceeds 1 by 2u where roots and quotients are
 * rounded to the nearest; WGSL allows 8.5u. Together 18.5u L.
 */
const DROP_MARGIN = 20 * UNIT_ROUNDOFF;

/**
 * e of heights that are computed in integers (common/long-heights.wgsl): the part that does not grow with the pair, and
 * its growth with the extent.
 */
export const LONG_ROUNDING = 2 ** -16;
export const LONG_EXTENT_ERROR = 2 ** -29;

/** s_max of an element without a limit: above every strain, and finite, because WGSL requires finite numbers. */
export const UNLIMITED = 3e38;

/** Parts of 1 in which α is summed: integers, whose sum does not depend on its order and fits for 2^25 vertices. */
const LOSS_PARTS = 128;

/** Parts of 1 in which r is summed: integers, whose sum does not depend on its order; it has two words. */
const RESIDUAL_PARTS = 65_536;

/** Constants that WGSL declares as u32. */
const UNSIGNED: Readonly<Record<string, number>> = {
  ...Object.fromEntries(PAIR_KINDS.map(({ symbol }, kind) => [symbol, kind])),
  KIND_COUNT: PAIR_KINDS.length,
  ...{ LEAF_SIZE, PASSIVE, KEPT, CONTACTS_PER_VERTEX, STUCK_STEPS, STOPPED_STEPS, WINDOW },
  ...{ WORKGROUP_SIZE, MAX_GROUPS, TAIL_THREADS, REFIT_NODES, SCAN_BLOCK, CHUNK_WORDS, MARKS_PER_WORD, MARKED_PAIRS },
  WALK_WORDS: WALK_OF_KIND.words,
  SET_WORDS: SET_OF_SLOTS.words,
  ...{ ...STATE, ...VERTEX_FLAG, ...LAST_PULL, ...ENTRY, NO_PAIR, KIND_MASK, STAMP_SHIFT, ON_SEAM, NO_PART, ONE_BITS },
  ...{ TAIL_EDGES, SMALL_VERTICES, SUM_GROUPS, FREE_STEPS, COMPLETE_EVERY, HOLD_BACK_PASSES },
  ...{ MAX_POOR_STEPS, MAX_HELD_STEPS, MAX_POOR_SHORTENINGS, MAX_HELD_SHORTENINGS, MOST_RESUMPTIONS, NO_CORNER },
  ...{ MORE_SWEEPS_ROUNDS: MORE_SWEEPS.rounds, MORE_SWEEPS_PATIENCE: MORE_SWEEPS.patience },
  ...withPrefix('PHASE_', PHASE),
  ...withPrefix('SEARCH_', SEARCH_MODE),
  ...withPrefix('STEP_SLOT_', STEP_SLOT),
  ...withPrefix('LIST_SLOT_', LIST_SLOT),
};

/** Constants that WGSL declares as f32. */
const FLOATS: Readonly<Record<string, number>> = {
  ...{ LONG_SPREAD, LONG_ROUNDING, LONG_EXTENT_ERROR },
  ...{ ERROR_FACTOR, UNDERFLOW_ERROR, DROP_MARGIN, FACE_SHARE, NO_BOUND, TRUSTED_SHARE, STALE_GAP },
  ...{
    RECOVERY,
    MIN_DELTA_SHARE,
    AIM_GROWTH,
    SHORTFALL_WEIGHT,
    MIN_SHORTFALL_WEIGHT,
    MIN_MOVABLE_WEIGHT,
    MIN_SINE,
    MIN_AREA_SHARE,
  },
  ...{
    BOX_LOSS,
    LOSS_PARTS,
    RESIDUAL_PARTS,
    JAMMED_ALPHA,
    JAMMED_SHARE,
    CLOSED_CHEAPER,
    CLOSED_SHARE,
    LEAP_PROGRESS,
    HEAP_MIN_GAIN,
    HEAP_SHORTENING_GAIN,
    EXCESS_WEIGHT,
    MAX_MOMENTUM,
    MAX_STRAIN_MOMENTUM,
    MIN_SHORTENING_GAIN,
    NEAR_LIMIT,
  },
  ...{
    UNLIMITED,
    SWEPT_EXCESS,
    SWEPT_STRAIN,
    FLATTEST_STRAIN,
    HELD_STRAIN,
    MAX_STRAIN_SLACK,
    MORE_SWEEPS_FALLEN_TO: MORE_SWEEPS.fallenTo,
  },
  ...{ PARTIAL_SHARE, GRANTED_SHARE, GUARD_SHARE, STOPPED_SHARE, STUCK_SHARE, FALLEN_SHARE, TRAVEL },
};

function withPrefix(prefix: string, values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
}

/** The WGSL declaration of every constant, by its name. */
export const CONSTANTS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(UNSIGNED).map(([name, value]) => [name, declareUnsigned(name, value)] as const),
  ...Object.entries(FLOATS).map(([name, value]) => [name, declareFloat(name, value)] as const),
  ['CORNERS', declareByKind('CORNERS', CORNERS)],
  ['SIDE_A', declareByKind('SIDE_A', SIDE_A)],
]);

/** Declares a small number for each kind of pair, packed into one word: four bits per kind. */
function declareByKind(name: string, values: readonly number[]): string {
  return declareUnsigned(
    name,
    values.reduce((word, value, kind) => word + value * 16 ** kind, 0),
  );
}

export function declareUnsigned(name: string, value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) throw new Error(`${name} is not an u32: ${value}.`);
  return `const ${name}: u32 = ${value}u;`;
}

/** Rounded here, so that the literal is exactly the float32. */
export function declareFloat(name: string, value: number): string {
  const rounded = Math.fround(value);
  if (!Number.isFinite(rounded)) throw new Error(`${name} is not an f32: ${value}.`);
  return `const ${name}: f32 = ${Number.isInteger(rounded) && rounded < 1e21 ? `${rounded}.0` : rounded};`;
}
