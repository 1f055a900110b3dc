import { VE, VV } from '../../src/solver/pair-kinds.js';
import type { Settings } from '../../src/solver/settings.js';
import { groupsFor } from '../device/dispatch.js';
import type { Place } from '../device/place.js';
import { CHUNK_WORDS } from '../kernels/constants.js';
import { ELEMENT_SLOTS, REFIT, SEARCH_PLAN, SEARCH_WALK } from '../kernels/structs.js';
import type { RefitPass, SearchLayout, TopologyTail, WalkPass } from './layout.js';

/** Each query has a chunk of its own, and the queries share a store of as many more. */
const CHUNKS_PER_QUERY = 2;

/** Words of the finds of so many queries: the number of chunks taken from the store, and the chunks. */
export const findWords = (queries: number): number => 1 + CHUNK_WORDS * CHUNKS_PER_QUERY * queries;

/**
 * The fields of a control block of the steps that request a search and receive its answer: `state` 0 and `wantsSearch`
 * other than 0 start one; `pairDemand` above the capacity states that P was not written.
 */
export interface SearchStatus {
  readonly place: Place;
  /** words, 4 bytes each */
  readonly state: number;
  readonly wantsSearch: number;
  readonly pairDemand: number;
}

/** Where each dispatch of a search finds its size and its uniform. */
export interface DispatchPlan {
  /** workgroups of each dispatch while a search runs, in order; 0 where the device computes them */
  readonly groups: readonly number[];
  /** the first dispatch of the prefix sum, and the first one after it: gatherKept */
  readonly scan: number;
  readonly gather: number;
  /** SearchPlan, ElementSlots, a Refit per refit, a SearchWalk per walk that counts, then per walk that writes */
  readonly uniforms: readonly ArrayBuffer[];
}

/**
 * @param levels levels of the prefix sum over old pairs and queries
 * @param finds word of `offsets` at which the finds begin: findWords(queries) words
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
  const places = { early: gather, all: groups.length, mark, scan, levels, gather, settle: gather + 1, chunks: finds };
  const statusWords = status && { state: status.state, wantsSearch: status.wantsSearch, pairDemand: status.pairDemand };
  const uniforms = [
    SEARCH_PLAN.pack({ ...places, ...statusWords, hasStatus: status ? 1 : 0 }),
    ELEMENT_SLOTS.pack({ count: slots, first: nodes, distances: tail.distances, border: layout.border }),
    ...refits.map((refit) => packRefit(layout, refit)),
    ...walks.map((walk) => packWalk(layout, walk, finds, tail, false)),
    ...walks.map((walk) => packWalk(layout, walk, finds, tail, true)),
  ];
  return { groups, scan, gather, uniforms };
}

const packRefit = ({ nodes }: SearchLayout, { set, width }: RefitPass): ArrayBuffer =>
  REFIT.pack({ nodes: set.nodes, slots: nodes + set.slot, count: set.count, width });

const packWalk = (
  layout: SearchLayout,
  { kind, own, other, firstQuery }: WalkPass,
  finds: number,
  { distances, marks, keys }: TopologyTail,
  isWriting: boolean,
): ArrayBuffer =>
  SEARCH_WALK.pack({
    isWriting: isWriting ? 1 : 0,
    firstQuery,
    ownSlot: own.slot,
    ownCount: own.count,
    nodes: other.nodes,
    otherSlot: other.slot,
    otherCount: other.count,
    leaves: other.leaves,
    boxes: layout.nodes,
    hasIgnored: layout.hasIgnored ? 1 : 0,
    parts: layout.parts,
    ignoredFirst: layout.ignoredFirst,
    ignored: layout.ignored,
    chunks: finds,
    distances,
    marks,
    excludedFirst: keys[kind].first,
    excludedCount: keys[kind].count,
    kind,
    isSelf: own === other ? 1 : 0,
    isOfPoints: kind === VE || kind === VV ? 1 : 0,
  });

/** Lengths and rules of a scene as the control block states them (fillTrustBoxes, Proximity of the CPU engine). */
export function searchLengthsOf(settings: Settings) {
  const isPoint = settings.guard === 'RADIUS';
  return {
    leap: settings.leap,
    reach: settings.reach,
    growth: (isPoint ? settings.searchRadiusMax : settings.delta) / 2,
    cut: isPoint ? settings.searchRadiusMax : settings.delta,
    isPoint: isPoint ? 1 : 0,
    skipsKinematic: settings.skipKinematicPairs ? 1 : 0,
  };
}
