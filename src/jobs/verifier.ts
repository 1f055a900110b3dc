import type { Positions } from '../contract/mesh.js';
import type { Contacts } from '../contract/report.js';
import { hasOnlyFinite } from '../mesh/positions.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Engine } from '../solver/engine.js';
import { findContacts, findDistances } from '../verify/distance.js';
import type { VerifierMemory } from '../verify/memory.js';
import { findMinDistance } from '../verify/nearest.js';
import { testPath } from '../verify/path.js';
import { decideDoubtful, findIntersections, isMostlyKnown, type StateFilter } from '../verify/state.js';
import type { DistanceFindings, PairRules, PathFindings, StateFindings } from '../verify/types.js';

/** How many pairs an error or a finding names; counts are complete. */
export const NAMED_PAIRS = 64;

/** The verifier as the jobs use it; they take it as an argument so that tests can replace it. */
export interface Verifier {
  /** @param memory what the verifier remembers of earlier states of this mesh, and where it remembers this one */
  findIntersections(
    mesh: CollisionMesh,
    positions: Positions,
    rules: PairRules,
    memory?: VerifierMemory,
  ): StateFindings;
  /** The same test, if the device is faster than this thread; see {@link testState}. */
  readonly testState?: (...state: Parameters<Verifier['findIntersections']>) => Promise<StateFindings>;
  /** Frees what a device keeps for a mesh whose states will not be tested again. */
  readonly forget?: (mesh: CollisionMesh) => void;
  findDistances(mesh: CollisionMesh, positions: Positions, rules: PairRules, closerThan: number): DistanceFindings;
  /** @param memory as in findIntersections */
  findMinDistance(
    mesh: CollisionMesh,
    positions: Positions,
    rules: PairRules,
    closerThan: number,
    memory?: VerifierMemory,
  ): number | undefined;
  findContacts(mesh: CollisionMesh, positions: Positions, rules: PairRules, closerThan: number): Contacts;
  testPath(
    mesh: CollisionMesh,
    start: Positions,
    end: Positions,
    rules: PairRules,
    scope?: 'all' | 'codimensional',
  ): PathFindings;
}

export const exactVerifier: Verifier = { findIntersections, findDistances, findMinDistance, findContacts, testPath };

/** The exact verifier, which uses the engine's device if that is faster. */
export function verifierFor(engine: Engine): Verifier {
  if (!canFilter(engine)) return exactVerifier;
  const states = new FilteredStates(engine);
  return {
    ...exactVerifier,
    testState: (...state) => states.findIntersections(...state),
    forget: (mesh) => states.forget(mesh),
  };
}

/** {@link findIntersections} in the fastest way that the verifier has. */
export async function testState(
  verifier: Verifier,
  ...state: Parameters<Verifier['findIntersections']>
): Promise<StateFindings> {
  return verifier.testState ? verifier.testState(...state) : verifier.findIntersections(...state);
}

/** An engine whose device can filter the pairs of a state for the verifier. */
export interface FilteringEngine extends Engine {
  openStateFilter(mesh: CollisionMesh): Promise<StateFilter>;
}

/**
 * Triangles from which on the device is used. The host tests a state in about 1.5 µs per triangle (a dress of 52,882 on a
 * mannequin in 80 ms of one thread); a device costs a round trip of about one millisecond.
 */
const MIN_TRIANGLES = 1000;
/**
 * Number of meshes whose filters are kept, at 80 bytes of device memory per triangle: those of a few sessions that take
 * turns, and of all that submit together.
 */
const MAX_FILTERS = 4;

/**
 * The filter is worthwhile only on hardware. A software adapter shares the cores with the host and takes longer than
 * the host alone (docs/method.md, the verifier's filter).
 */
export function canFilter(engine: Engine): engine is FilteringEngine {
  return !engine.description.software && 'openStateFilter' in engine;
}

/**
 * Tests states with the help of an engine's device: the device clears pairs that certainly do not intersect, the exact test
 * decides the rest. Whenever the device fails, the host alone tests the state, so every state gets a verdict.
 */
export class FilteredStates {
  /** the most recently used last */
  private readonly filters = new Map<CollisionMesh, StateFilter>();
  /** filters on which a device works: several if jobs run at once */
  private readonly busy = new Set<StateFilter>();
  private hasWarned = false;

  /** @param warn is called the first time that the device fails; the next state is filtered again */
  constructor(
    private readonly engine: FilteringEngine,
    private readonly warn: (message: string) => void = (message) =>
      process.emitWarning(message, { code: 'INTERSTICE_STATE_FILTER' }),
  ) {}

  /** Like {@link findIntersections}. */
  async findIntersections(
    mesh: CollisionMesh,
    positions: Positions,
    rules: PairRules,
    memory?: VerifierMemory,
  ): Promise<StateFindings> {
    // A NaN would pass every comparison of the device; the host's test refuses it and names the vertex.
    const isForHost =
      mesh.triangles.length / 3 < MIN_TRIANGLES ||
      positions.length !== 3 * mesh.vertexCount ||
      !hasOnlyFinite(positions) ||
      // If little has moved, the remaining test costs the host less than a round trip.
      isMostlyKnown(mesh, positions, rules, memory);
    const doubtful = isForHost ? undefined : await this.findDoubtful(mesh, positions);
    return doubtful
      ? decideDoubtful(mesh, positions, rules, doubtful, memory)
      : findIntersections(mesh, positions, rules, memory);
  }

  /** Frees what is kept for a mesh. */
  forget(mesh: CollisionMesh): void {
    this.filters.get(mesh)?.close();
    this.filters.delete(mesh);
  }

  close(): void {
    for (const filter of this.filters.values()) filter.close();
    this.filters.clear();
  }

  /** undefined = the device failed */
  private async findDoubtful(mesh: CollisionMesh, positions: Positions) {
    let filter: StateFilter | undefined;
    try {
      filter = await this.filterOf(mesh);
      return await filter.findDoubtful(positions);
    } catch (thrown) {
      this.forget(mesh);
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      if (!this.hasWarned) this.warn(`The host tested a state alone, because the device failed: ${reason}`);
      this.hasWarned = true;
      return undefined;
    } finally {
      if (filter) this.busy.delete(filter);
    }
  }

  /** The filter of a mesh, which is busy from now on. */
  private async filterOf(mesh: CollisionMesh): Promise<StateFilter> {
    const held = this.filters.get(mesh);
    const filter = held ?? (await this.engine.openStateFilter(mesh));
    this.filters.delete(mesh);
    this.filters.set(mesh, filter);
    this.busy.add(filter);
    const most = Math.max(MAX_FILTERS, this.engine.together?.jobs ?? 0);
    for (const [oldest, idle] of this.filters) {
      if (this.filters.size <= most) break;
      // A filter on which a device works is not freed before that has ended.
      if (!this.busy.has(idle)) this.forget(oldest);
    }
    return filter;
  }
}
