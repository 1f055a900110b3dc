import { type Case, makeCases } from './cases.js';

/** One measurement of a suite, and what its result is held against. */
export interface SuiteItem {
  readonly scene: string;
  readonly vertices: number;
  /** share of the way from start to target that is asked for: 1 = all of it */
  readonly share: number;
  readonly goal: string;
  /** milliseconds of the device's own time, of the whole request or of one step; absent = nothing to hold it against */
  readonly limit?: { readonly of: 'request' | 'step'; readonly milliseconds: number };
}

/**
 * For one run on a hardware adapter: slow contact, hard contact, then the same scene at doubling sizes, and tiny meshes,
 * whose steps cost what their dispatches cost.
 */
const HARDWARE: readonly SuiteItem[] = [
  { scene: 'layers', vertices: 1200, share: 1, goal: 'launch rate: a step of a tiny mesh' },
  {
    scene: 'layers',
    vertices: 70_000,
    share: 0.02,
    goal: 'slow contact, 140k triangles: a request under 5 ms of device time',
    limit: { of: 'request', milliseconds: 5 },
  },
  ...[25_000, 40_000, 60_000].map((vertices) => ({
    scene: 'layers',
    vertices,
    share: 1,
    goal: 'hard contact: a step under 1 ms of device time',
    limit: { of: 'step' as const, milliseconds: 1 },
  })),
  ...[62_500, 125_000, 250_000, 500_000].map((vertices) => ({
    scene: 'sleeve',
    vertices,
    share: 1,
    goal: 'linear in size up to 1M triangles',
  })),
  ...[125_000, 250_000, 500_000].map((vertices) => ({
    scene: 'layers',
    vertices,
    share: 0.2,
    goal: 'linear in size up to 1M triangles, everything in contact',
  })),
];

export const SUITES: Readonly<Record<string, readonly SuiteItem[]>> = { hardware: HARDWARE };

/** The item's case, its target moved towards the start. */
export async function caseOf(item: SuiteItem): Promise<Case> {
  for await (const made of makeCases([item.scene], [item.vertices], undefined)) {
    if (item.share === 1) return made;
    const { start, target } = made.request;
    const nearer = Float64Array.from(target, (value, k) => start[k] + item.share * (value - start[k]));
    return { ...made, scene: `${made.scene} ×${item.share}`, request: { ...made.request, target: nearer } };
  }
  throw new Error(`no case for ${item.scene}`);
}
