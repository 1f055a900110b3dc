import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import { type Calm, type Clearance, ClearancePlan, COMPARED } from './clearance.js';
import type { Relation } from './elements.js';
import type { PairCode } from './pair-kinds.js';

/** The pairs of one state that have a common point, all of them, whether they count as findings or not. */
export interface KnownMeetings {
  /** [3·V] the state, in its own scalar */
  readonly x: Positions;
  /** whether pairs of two kinematic elements were examined, too */
  readonly hasKinematic: boolean;
  /** uint32[3·n] code of the kind, element of a, element of b */
  readonly pairs: Uint32Array;
}

/** One pair and its distance, the unit of the state. */
export interface NearPair {
  readonly code: PairCode;
  readonly i: number;
  readonly j: number;
  readonly distance: number;
}

/** The nearest pairs of one state. */
export interface KnownDistances {
  /** [3·V] the state, in its own scalar */
  readonly x: Positions;
  /** whether pairs of two kinematic elements were left out */
  readonly skipsKinematic: boolean;
  /** lower bound of the distance of every pair that is not listed; the unit of the state */
  readonly beyond: number;
  /** whether pairs that are not listed may be exactly that far apart, because the list was full once */
  readonly mayTie: boolean;
  /** nearest first, none farther than `beyond` */
  readonly nearest: readonly NearPair[];
}

/**
 * What the verifier remembers of the states of one mesh that it has examined completely, by itself and in this process,
 * so that a test of the next state can skip what has not moved.
 *
 * Whether two elements have a common point, and how far apart they are, depends on nothing but the coordinates of their
 * vertices. Call a vertex resting if its three numbers equal, as doubles, those in the remembered state, and an element
 * resting if all its vertices are. Every pair either consists of two resting elements, so that its known result is
 * still valid, or has an element that moved. So
 *
 *   pairs of a state = { remembered pairs of two resting elements } ∪ { pairs with an element that moved },
 *
 * and the search covers only the second set. Nothing else has an influence: not the rules of a step (kinematic and
 * excluded pairs are remembered like all others and judged by the rules of each test), not the history between the two
 * states (steps that were undone, cancelled or lost), and not the engine. A mesh never changes, and another mesh has a
 * memory of its own, so elements and ignored parts are the same. A test that ends early does not change the memory.
 */
export class VerifierMemory {
  meetings: KnownMeetings | undefined;
  distances: KnownDistances | undefined;

  /** clearances of states that a test of a state, and a search for the smallest distance, examined some time ago */
  meetingClearance: Clearance | undefined;
  distanceClearance: Clearance | undefined;
  readonly meetingPlan = new ClearancePlan();
  readonly distancePlan = new ClearancePlan();

  /** usual motions between the last states that were tested, the newest last, the unit of the states */
  readonly motions: number[] = [];

  /** whether the last test of a state examined everything, because too little was known */
  wasWhole = true;

  /** how far calm vertices had moved in the last test that a list served; undefined = no list served the last test */
  #listedMotion: number | undefined;

  constructor(readonly mesh: CollisionMesh) {}

  /** The objects that it keeps alive; the mesh is not its own. */
  get kept(): readonly unknown[] {
    return [this.meetings, this.distances, this.meetingClearance, this.distanceClearance];
  }

  /**
   * Whether the next test should skip most pairs, like the last one. If a list has served the last test, the list must
   * remain valid for another motion like the last ones.
   */
  get expectsLittle(): boolean {
    if (this.wasWhole || this.#listedMotion === undefined) return !this.wasWhole;
    const { within = 0 } = this.meetingClearance ?? {};
    return this.#listedMotion + Math.max(0, ...this.motions) < within / 2;
  }

  /** @param calm undefined = no list has served this test */
  noteTest(isWhole: boolean, calm: Calm | undefined): void {
    this.wasWhole = isWhole;
    this.#listedMotion = calm?.most;
  }

  /** @param motion of {@link usualMotion} between the state that is tested and the one before */
  noteMotion(motion: number): void {
    this.motions.push(motion);
    if (this.motions.length > COMPARED) this.motions.shift();
  }
}

/** Share of the vertices that may have moved: if more have, a search that skips the others saves little. */
const MOST_MOVED = 1 / 2;

export interface Comparison {
  /** uint8[V] 1 = the same numbers in both states */
  readonly resting: Uint8Array;
  readonly moved: number;
  /** whether so few have moved that skipping the others saves time */
  readonly isWorthwhile: boolean;
}

/**
 * @param x float64[3·V]
 * @param known [3·V] another state of the same mesh
 */
export function compareStates(x: Float64Array, known: Positions): Comparison {
  const resting = new Uint8Array(x.length / 3);
  let moved = 0;
  for (let v = 0, k = 0; v < resting.length; v++, k += 3) {
    if (x[k] === known[k] && x[k + 1] === known[k + 1] && x[k + 2] === known[k + 2]) resting[v] = 1;
    else moved++;
  }
  return { resting, moved, isWorthwhile: moved <= MOST_MOVED * resting.length };
}

/** Whether all vertices of both elements rest. @param resting of {@link Comparison} */
export function isPairResting(resting: Uint8Array, { a, b }: Relation, i: number, j: number): boolean {
  return isAllResting(resting, a.vertices, a.size, i) && isAllResting(resting, b.vertices, b.size, j);
}

function isAllResting(resting: Uint8Array, vertices: Uint32Array, size: number, element: number): boolean {
  for (let k = size * element; k < size * (element + 1); k++) if (resting[vertices[k]] === 0) return false;
  return true;
}
