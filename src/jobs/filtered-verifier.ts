import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Engine } from '../solver/types.js';
import { decideDoubtful, type StateFilter } from '../verify/filter.js';
import { findIntersections } from '../verify/state.js';
import type { PairRules, StateFindings } from '../verify/types.js';

/** An engine whose device can look through a state for the verifier. */
export interface FilteringEngine extends Engine {
  openStateFilter(mesh: CollisionMesh): Promise<StateFilter>;
}

/**
 * Triangles from which on the device is asked. The host tests a state in about 1.5 µs a triangle (a dress of 52,882 on a
 * mannequin in 80 ms of one thread); asking a device costs a round trip of a millisecond or so.
 */
const MIN_TRIANGLES = 1000;
/** Meshes whose filters are kept, 80 bytes of device memory a triangle each: those of a few sessions that take turns. */
const MAX_FILTERS = 4;

/**
 * Where the filter pays: on hardware. A software adapter shares the cores with the host and takes longer than the host
 * alone would (docs/method.md, the verifier's filter).
 */
export function canFilter(engine: Engine): engine is FilteringEngine {
  return !engine.description.software && 'openStateFilter' in engine;
}

/**
 * Tests states with the help of an engine's device: it clears what certainly does not meet, the exact test decides the rest.
 * Whatever goes wrong with the device, the state is tested on the host alone: there is no answer without a verdict.
 */
export class FilteredStates {
  /** the newest last */
  private readonly filters = new Map<CollisionMesh, StateFilter>();
  private hasWarned = false;

  /** @param warn is told the first time that the device could not do it */
  constructor(
    private readonly engine: FilteringEngine,
    private readonly warn: (message: string) => void = (message) =>
      process.emitWarning(message, { code: 'INTERSTICE_STATE_FILTER' }),
  ) {}

  /** As {@link findIntersections}. */
  async findIntersections(mesh: CollisionMesh, positions: Positions, rules: PairRules): Promise<StateFindings> {
    if (
      mesh.triangles.length / 3 < MIN_TRIANGLES ||
      positions.length !== 3 * mesh.vertexCount ||
      !hasOnlyFinite(positions)
    )
      return findIntersections(mesh, positions, rules);
    const doubtful = await this.ask(mesh, positions);
    return doubtful ? decideDoubtful(mesh, positions, rules, doubtful) : findIntersections(mesh, positions, rules);
  }

  /** Gives back what is kept for a mesh. */
  forget(mesh: CollisionMesh): void {
    this.filters.get(mesh)?.close();
    this.filters.delete(mesh);
  }

  close(): void {
    for (const filter of this.filters.values()) filter.close();
    this.filters.clear();
  }

  /** undefined = the host is to test everything */
  private async ask(mesh: CollisionMesh, positions: Positions) {
    try {
      return await (await this.filterOf(mesh)).findDoubtful(positions);
    } catch (thrown) {
      this.forget(mesh);
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      if (!this.hasWarned) this.warn(`states are tested on the host alone where the device cannot help: ${reason}`);
      this.hasWarned = true;
      return undefined;
    }
  }

  private async filterOf(mesh: CollisionMesh): Promise<StateFilter> {
    const held = this.filters.get(mesh);
    const filter = held ?? (await this.engine.openStateFilter(mesh));
    this.filters.delete(mesh);
    this.filters.set(mesh, filter);
    for (const oldest of this.filters.keys()) {
      if (this.filters.size <= MAX_FILTERS) break;
      this.forget(oldest);
    }
    return filter;
  }
}

/** A NaN would pass every comparison of the device unseen; the host's test refuses it by name. */
function hasOnlyFinite(positions: Positions): boolean {
  for (let k = 0; k < positions.length; k++) if (!Number.isFinite(positions[k])) return false;
  return true;
}
