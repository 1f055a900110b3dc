import type { CollisionMesh, Positions } from '../mesh/types.js';
import type { Contacts } from '../session/types.js';
import { findContacts, findDistances } from '../verify/distance.js';
import { testPath } from '../verify/path.js';
import { findIntersections } from '../verify/state.js';
import type { DistanceFindings, PairRules, PathFindings, StateFindings } from '../verify/types.js';

/** The judge as the jobs see it; an argument of theirs so that a test can put a blind or a strict one in its place. */
export interface Verifier {
  findIntersections(mesh: CollisionMesh, positions: Positions, rules: PairRules): StateFindings;
  findDistances(mesh: CollisionMesh, positions: Positions, rules: PairRules, closerThan: number): DistanceFindings;
  findContacts(mesh: CollisionMesh, positions: Positions, rules: PairRules, closerThan: number): Contacts;
  testPath(
    mesh: CollisionMesh,
    start: Positions,
    end: Positions,
    rules: PairRules,
    scope?: 'all' | 'codimensional',
  ): PathFindings;
}

export const exactVerifier: Verifier = { findIntersections, findDistances, findContacts, testPath };

/** How many pairs an error or a finding names; counts are complete. */
export const NAMED_PAIRS = 64;
