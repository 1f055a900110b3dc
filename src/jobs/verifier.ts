import type { Positions } from '../contract/mesh.js';
import type { Contacts } from '../contract/report.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Engine } from '../solver/types.js';
import { findContacts, findDistances } from '../verify/distance.js';
import { testPath } from '../verify/path.js';
import { findIntersections } from '../verify/state.js';
import type { DistanceFindings, PairRules, PathFindings, StateFindings } from '../verify/types.js';
import { canFilter, FilteredStates } from './filtered-verifier.js';

/** The judge as the jobs see it; an argument of theirs so that a test can put a blind or a strict one in its place. */
export interface Verifier {
  findIntersections(mesh: CollisionMesh, positions: Positions, rules: PairRules): StateFindings;
  /** The same, where there is a faster way than on this thread; see {@link testState}. */
  readonly testState?: (mesh: CollisionMesh, positions: Positions, rules: PairRules) => Promise<StateFindings>;
  /** A mesh whose states will not be tested again: what is kept for it on a device can go. */
  readonly forget?: (mesh: CollisionMesh) => void;
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

/** The exact verifier, with the help of the engine's device where that pays. */
export function verifierFor(engine: Engine): Verifier {
  if (!canFilter(engine)) return exactVerifier;
  const states = new FilteredStates(engine);
  return {
    ...exactVerifier,
    testState: (...state) => states.findIntersections(...state),
    forget: (mesh) => states.forget(mesh),
  };
}

/** {@link findIntersections} by the verifier's fastest way. */
export async function testState(
  verifier: Verifier,
  ...state: Parameters<Verifier['findIntersections']>
): Promise<StateFindings> {
  return verifier.testState ? verifier.testState(...state) : verifier.findIntersections(...state);
}

/** How many pairs an error or a finding names; counts are complete. */
export const NAMED_PAIRS = 64;
