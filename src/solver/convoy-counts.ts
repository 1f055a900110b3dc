import type { ConvoyCounts } from './engine.js';

/** Returns the sum of the counts of several devices or threads. */
export function sumOfCounts(all: readonly ConvoyCounts[]): ConvoyCounts {
  const sum = (of: (counts: ConvoyCounts) => number) => all.reduce((total, counts) => total + of(counts), 0);
  return {
    submissions: sum(({ submissions }) => submissions),
    parts: sum(({ parts }) => parts),
    dispatches: sum(({ dispatches }) => dispatches),
    launches: sum(({ launches }) => launches),
    waited: sum(({ waited }) => waited),
    sizes: (all.find(({ sizes }) => sizes.length > 0)?.sizes ?? []).map((_, k) => sum(({ sizes }) => sizes[k] ?? 0)),
    alone: {
      size: sum(({ alone }) => alone.size),
      strainLimits: sum(({ alone }) => alone.strainLimits),
      scenes: sum(({ alone }) => alone.scenes),
      memory: sum(({ alone }) => alone.memory),
    },
  };
}
