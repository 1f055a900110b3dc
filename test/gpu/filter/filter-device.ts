import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { DeviceStateFilter, type FilterDevice, type FilterOptions } from '../../../gpu/filter/state-filter.js';
import type { Positions } from '../../../src/contract/mesh.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { type DoubtfulPairs, decideDoubtful, findIntersections } from '../../../src/verify/state.js';
import type { PairRules, StateFindings } from '../../../src/verify/types.js';
import { openSharedAdapter } from '../../support/shared-device.js';

/** Opens a device for filters. The test closes it in a teardown. */
export async function openFilterDevice(): Promise<{
  readonly device?: FilterDevice & { readonly ledger: MemoryBudget };
  readonly options: { readonly skip?: string };
  close(): Promise<void>;
}> {
  const { opened, reason } = await openSharedAdapter({ allowSoftware: true });
  if (!opened) {
    if (process.env.INTERSTICE_REQUIRE_GPU === '1') throw new Error(`INTERSTICE_REQUIRE_GPU=1, but ${reason}`);
    return { options: { skip: reason }, close: async () => {} };
  }
  const { device } = await opened.requestDevice();
  const ledger = new MemoryBudget();
  const faults: string[] = [];
  device.addEventListener('uncapturederror', (event) => {
    event.preventDefault();
    faults.push(event.error.message);
  });
  return {
    device: {
      ledger,
      memory: new DeviceMemory(device, ledger),
      assertUsable: () => {
        if (faults.length > 0) throw new Error(faults.join('; '));
      },
      waitFor: (work) => work,
    },
    options: {},
    close: () => opened.close(),
  };
}

/** The same device with a memory account of its own, as every filter requires. */
export function forFilter(device: FilterDevice): FilterDevice {
  return { ...device, memory: device.memory.fork() };
}

export interface Comparison {
  readonly doubtful: DoubtfulPairs | undefined;
  /** filter and exact test */
  readonly filtered: StateFindings;
  /** the exact test alone */
  readonly exact: StateFindings;
}

/** Filters a state, decides the rest, and does the same without the filter. */
export async function compare(
  device: FilterDevice,
  mesh: CollisionMesh,
  x: Positions,
  rules: PairRules,
  options: FilterOptions = {},
): Promise<Comparison> {
  const filter = await DeviceStateFilter.open(forFilter(device), mesh, options);
  try {
    const doubtful = await filter.findDoubtful(x);
    const exact = findIntersections(mesh, x, rules);
    return { doubtful, filtered: doubtful ? decideDoubtful(mesh, x, rules, doubtful) : exact, exact };
  } finally {
    filter.close();
  }
}

/** What must be the same with and without the filter. */
export function verdictOf({
  intersectionCount,
  intersections,
  kinematicIntersectionCount,
  excludedPairs,
}: StateFindings): Pick<
  StateFindings,
  'intersectionCount' | 'intersections' | 'kinematicIntersectionCount' | 'excludedPairs'
> {
  return { intersectionCount, intersections, kinematicIntersectionCount, ...(excludedPairs ? { excludedPairs } : {}) };
}
