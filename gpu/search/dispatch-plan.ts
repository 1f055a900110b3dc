import { VE, VV } from '../../src/solver/pair-kinds.js';
import { groupsFor } from '../device/dispatch.js';
import type { RefitPass, SearchLayout, WalkPass } from './layout.js';
import type { TopologyTail } from './topology-tail.js';

/** Words of a chunk of finds that counting keeps, so that writing need not walk again (search/walk-pairs.wgsl has the same number). */
const CHUNK_WORDS = 8;
/** Each query has a chunk, and as many more are in a store for all. */
const CHUNKS_A_QUERY = 2;

/** Words of what counting keeps of so many queries: how many chunks of the store were taken, and the chunks. */
export const findWords = (queries: number): number => 1 + CHUNK_WORDS * CHUNKS_A_QUERY * queries;

/**
 * A control block of the steps from which the search takes what to do, and to which it tells the demand: `state` 0 and
 * `wantsSearch` other than 0 start one; `pairDemand` above the capacity says that P was not written.
 */
export interface SearchStatus {
  readonly buffer: GPUBuffer;
  /** words, 4 bytes each */
  readonly state: number;
  readonly wantsSearch: number;
  readonly pairDemand: number;
}

/** Where each dispatch of a search finds its size and its uniform. */
export interface DispatchPlan {
  /** workgroups of each dispatch while a search runs, in order; 0 where the device works them out */
  readonly groups: readonly number[];
  /** the dispatches of the prefix sum, and the first one after it: gatherKept */
  readonly scan: number;
  readonly gather: number;
  /** struct Plan, struct Slots, a struct Refit for each refit, a struct Walk for each walk counting, then writing */
  readonly uniforms: readonly (readonly number[])[];
}

/**
 * @param levels of the prefix sum over old pairs and queries
 * @param finds word of `offsets` from which on finds are kept: findWords(queries)
 */
export function planDispatches(
  layout: SearchLayout,
  levels: number,
  finds: number,
  status: SearchStatus | undefined,
  tail: TopologyTail,
): DispatchPlan {
  const { slots, nodes, refits, walks } = layout;
  const walkGroups = walks.map(({ own }) => groupsFor(own.count));
  const vertexGroups = groupsFor(layout.vertexCount);
  const groups = [vertexGroups, groupsFor(slots), ...refits.map((refit) => refit.groups)];
  const mark = groups.length;
  groups.push(0, ...walkGroups);
  const scan = groups.length;
  groups.push(...new Array<number>(2 * levels - 1).fill(0));
  const gather = groups.length;
  groups.push(0, 0, ...walkGroups);
  const plan = [gather, groups.length, mark, scan, levels, gather, gather + 1];
  const statusWords = status ? [1, status.state, status.wantsSearch, status.pairDemand] : [0, 0, 0, 0];
  const uniforms = [
    [...plan, ...statusWords, finds],
    [slots, nodes, tail.distances, layout.border],
    ...refits.map((refit) => refitWords(layout, refit)),
    ...walks.map((walk) => walkWords(layout, walk, finds, tail, false)),
    ...walks.map((walk) => walkWords(layout, walk, finds, tail, true)),
  ];
  return { groups, scan, gather, uniforms };
}

const refitWords = ({ nodes }: SearchLayout, { set, width }: RefitPass): number[] => [
  set.nodes,
  nodes + set.slot,
  set.count,
  width,
];

const walkWords = (
  layout: SearchLayout,
  { kind, own, other, firstQuery }: WalkPass,
  finds: number,
  { distances, marks, keys }: TopologyTail,
  isWriting: boolean,
): number[] => [
  isWriting ? 1 : 0,
  firstQuery,
  own.slot,
  own.count,
  other.nodes,
  other.slot,
  other.count,
  other.leaves,
  layout.nodes,
  layout.hasIgnored ? 1 : 0,
  layout.parts,
  layout.ignoredFirst,
  layout.ignored,
  finds,
  distances,
  marks,
  keys[kind].first,
  keys[kind].count,
  kind,
  own === other ? 1 : 0,
  kind === VE || kind === VV ? 1 : 0,
];
