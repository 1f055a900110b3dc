import { LEAF_SIZE } from '../../src/solver/bvh.js';
import { EE, VE, VT, VV } from '../../src/solver/cpu/pairs.js';

/*
 * Every number that TypeScript and WGSL both use has its home in TypeScript, here or in src/solver. A kernel that names one
 * of them receives its declaration when it is assembled (gpu/shaders.ts); WGSL files declare only what nobody else uses.
 */

/** Threads in a workgroup of every kernel that runs a thread per element. */
const WORKGROUP_SIZE = 64;

/** WebGPU's limit for one dimension of a dispatch, on every adapter. */
const MAX_GROUPS = 65_535;

/** The largest workgroup that every adapter allows, for kernels of a single workgroup: more threads, fewer turns. */
const TAIL_THREADS = 256;

/** Values of Control.state. The last three are pauses: the host has to search, or to provide room. */
export const STATE = {
  RUNNING: 0,
  CONVERGED: 1,
  STALLED: 2,
  AT_STEP_LIMIT: 3,
  NEEDS_SEARCH: 4,
  NEEDS_ROOM: 5,
  NEEDS_CANDIDATES: 6,
} as const;

/**
 * What is asked of a search, in Control.wantsSearch and SearchControl.mode; SEARCH_NONE and so on in WGSL. RESUME: P has
 * the room now that the last search wanted, and only has to be written.
 */
export const SEARCH_MODE = { NONE: 0, PART: 1, ALL: 2, RESUME: 3 } as const;
export type SearchMode = (typeof SEARCH_MODE)[keyof typeof SEARCH_MODE];

/**
 * Places of the indirect dispatches in stepArguments, three words each, which `decide` writes: one workgroup; a thread per
 * vertex; a thread per pair; a whole search; then one for each wide colour of edges. STEP_SLOT_ONE and so on in WGSL.
 */
export const STEP_SLOT = { ONE: 0, VERTICES: 1, PAIRS: 2, SEARCH: 3, FIRST_EDGES: 4 } as const;

/**
 * Places in candidateArguments: a thread per candidate (afterGeometry), per contact of a round of the sweep (openRound),
 * per pair of the list under work (planActive), and how many places there are. LIST_SLOT_CANDIDATES and so on in WGSL.
 */
export const LIST_SLOT = { CANDIDATES: 0, ROUND: 1, ACTIVE: 2, COUNT: 3 } as const;

/** Bits of Motion.flags. */
export const VERTEX_FLAG = { MOVING: 1, MOVABLE: 2, REVERTED: 4, STUCK: 8 } as const;

/** Bits of a vertex in a search: the elements of a pair that share a bit make no pair (src/solver/cpu/bars.ts). */
const BARS = { PASSIVE: 1, KEPT: 2 } as const;

/** A vertex that no pair has bounded. */
export const NO_PAIR = 0xffffffff;

/** Above every α: the slot of a pair that bounds nothing. */
export const NO_BOUND = 2;

/** pairInfo has the kind in its low bits and, above them, the clock of the step in which the pair was measured. */
export const KIND_MASK = 3;
export const STAMP_SHIFT = 2;

/** An entry of a list of pairs: the index, above it the kind, and the top bit where the pair was measured in this step. */
const ENTRY = { INDEX_MASK: 0x1fffffff, KIND_SHIFT: 29, IS_CURRENT: 0x80000000 } as const;

/** Steps in a window over which stagnation is judged. */
const WINDOW = 32;

/** Words a candidate of the buffer `contacts` (contact-words.wgsl). */
export const CONTACT_WORDS = 15;

/** Words of a chunk of finds (walk-pairs.wgsl), of which the last says where the next chunk is. */
export const CHUNK_WORDS = 8;

/** Entries of a block of a prefix sum. */
export const SCAN_BLOCK = 1024;

/** Nodes of one level that a workgroup of refit.wgsl takes: one a thread. */
export const REFIT_NODES = WORKGROUP_SIZE;

/** Bits, of vertices or slots, in one word. */
export const MARKS_PER_WORD = 32;

/** Top bit of a vertex's part: the vertex is on a seam. There are far fewer parts. */
export const ON_SEAM = 0x80000000;

/** The part of an element whose vertices belong to different parts. */
export const NO_PART = 0xffffffff;

/** Of numbers that WGSL declares as u32. */
const UNSIGNED: Readonly<Record<string, number>> = {
  ...{ VT, EE, VE, VV, LEAF_SIZE, WORKGROUP_SIZE, MAX_GROUPS, TAIL_THREADS },
  ...{ ...STATE, ...VERTEX_FLAG, ...BARS, ...ENTRY },
  ...withPrefix('SEARCH_', SEARCH_MODE),
  ...withPrefix('STEP_SLOT_', STEP_SLOT),
  ...withPrefix('LIST_SLOT_', LIST_SLOT),
  ...{ NO_PAIR, KIND_MASK, STAMP_SHIFT, CHUNK_WORDS, SCAN_BLOCK, REFIT_NODES },
  ...{ WINDOW, MARKS_PER_WORD, ON_SEAM, NO_PART },
};

/** Of numbers that WGSL declares as f32. */
const FLOATS: Readonly<Record<string, number>> = {
  NO_BOUND,
};

function withPrefix(prefix: string, values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
}

/** The WGSL declaration of every constant, by its name. */
export const CONSTANTS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(UNSIGNED).map(([name, value]) => [name, declareUnsigned(name, value)] as const),
  ...Object.entries(FLOATS).map(([name, value]) => [name, declareFloat(name, value)] as const),
]);

export function declareUnsigned(name: string, value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) throw new Error(`${name} is not an u32: ${value}.`);
  return `const ${name}: u32 = ${value}u;`;
}

/** Rounded here, so that the literal is the float32 itself. */
export function declareFloat(name: string, value: number): string {
  const rounded = Math.fround(value);
  if (!Number.isFinite(rounded)) throw new Error(`${name} is not an f32: ${value}.`);
  return `const ${name}: f32 = ${Number.isInteger(rounded) && rounded < 1e21 ? `${rounded}.0` : rounded};`;
}
