import { VE, VV } from '../../src/solver/pair-kinds.js';
import type { Settings } from '../../src/solver/settings.js';
import { groupsFor } from '../device/dispatch.js';
import type { Place } from '../device/place.js';
import { CHUNK_WORDS, REFIT_NODES } from '../kernels/constants.js';
import { ELEMENT_SLOTS, REFIT, SEARCH_PLAN, SEARCH_WALK, SET_OF_SLOTS, WALK_OF_KIND } from '../kernels/structs.js';
import type { SearchLayout, TopologyTail } from './layout.js';

/** Each query has a chunk of its own, and the queries share a store of equally many more. */
const CHUNKS_PER_QUERY = 2;

/** Words of the finds of this many queries: the number of chunks taken from the store, and the chunks. */
export const findWords = (queries: number): number => 1 + CHUNK_WORDS * CHUNKS_PER_QUERY * queries;

/**
 * The fields of a control block of the steps that request a search and receive its answer: `state` = 0 and
 * `wantsSearch` ≠ 0 start one; `pairDemand` above the capacity means that P was not written.
 */
export interface SearchStatus {
  readonly place: Place;
  /** words, 4 bytes each */
  readonly state: number;
  readonly wantsSearch: number;
  readonly pairDemand: number;
}

/** The places where each dispatch of a search finds its size and its uniform. */
export interface DispatchPlan {
  /** workgroups of each dispatch while a search runs, in order; 0 if the device computes them */
  readonly groups: readonly number[];
  /**
   * the dispatch that also marks the kept pairs, the first of the prefix sum, and the first one after it: gatherKept
   */
  readonly mark: number;
  readonly scan: number;
  readonly gather: number;
  /** SearchPlan, ElementSlots, the SearchWalk that counts, and the one that writes */
  readonly uniforms: readonly ArrayBuffer[];
}

/**
 * @param levels levels of the prefix sum over blocks of old pairs and queries
 * @param finds word of `offsets` at which the finds begin: findWords(queries) words
 */
export function planDispatches(
  layout: SearchLayout,
  levels: number,
  finds: number,
  status: SearchStatus | undefined,
  tail: TopologyTail,
): DispatchPlan {
  const { slots, trees, walks } = layout;
  const walkGroups = walks.reduce((sum, { own }) => sum + groupsFor(own.count), 0);
  const leafGroups = trees.reduce((sum, { leaves }) => sum + Math.ceil(leaves / REFIT_NODES), 0);
  const groups = [groupsFor(layout.vertexCount), groupsFor(slots), leafGroups];
  if (hasUpperNodes(layout)) groups.push(trees.length);
  groups.push(walkGroups);
  const mark = 1;
  const scan = groups.length;
  groups.push(...new Array<number>(2 * levels - 1).fill(0));
  const gather = groups.length;
  groups.push(0, 0, walkGroups);
  const places = { early: gather, all: groups.length, mark, scan, levels, gather, settle: gather + 1, chunks: finds };
  const statusWords = status && { state: status.state, wantsSearch: status.wantsSearch, pairDemand: status.pairDemand };
  const uniforms = [
    SEARCH_PLAN.pack({ ...places, ...statusWords, hasStatus: status ? 1 : 0 }),
    packSlots(layout, tail),
    ...[false, true].map((isWriting) => packWalk(layout, finds, tail, isWriting)),
  ];
  return { groups, mark, scan, gather, uniforms };
}

/** Whether a tree has nodes above those with which a workgroup of refitLeaves ends. */
export const hasUpperNodes = ({ trees }: SearchLayout): boolean => trees.some(({ leaves }) => leaves > REFIT_NODES);

/** Returns the Refit of every tree, and an end marker. */
export function packRefits({ nodes, trees }: SearchLayout): Uint8Array<ArrayBuffer> {
  const refits = new Uint8Array(REFIT.bytes * (trees.length + 1));
  trees.forEach((tree, n) => {
    const refit = { nodes: tree.nodes, slots: nodes + tree.slot, count: tree.count, width: tree.leaves };
    refits.set(new Uint8Array(REFIT.pack(refit)), REFIT.bytes * n);
  });
  return refits;
}

/** Returns the WalkOfKind of every walk, and the SetOfSlots of every set. */
export function packKinds({ walks, sets }: SearchLayout, { keys }: TopologyTail): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(WALK_OF_KIND.words * walks.length + SET_OF_SLOTS.words * sets.length);
  const view = new DataView(words.buffer);
  let firstGroup = 0;
  walks.forEach(({ kind, own, other, firstQuery }, n) => {
    const values = {
      ...{ firstGroup, firstQuery, ownSlot: own.slot, ownCount: own.count, nodes: other.nodes, otherSlot: other.slot },
      ...{ otherCount: other.count, leaves: other.leaves, kind, isSelf: own === other ? 1 : 0 },
      ...{ ownVertices: own.vertices, ownSize: own.size, otherVertices: other.vertices, otherSize: other.size },
      ...{ excludedFirst: keys[kind]!.first, excludedCount: keys[kind]!.count },
      isOfPoints: kind === VE || kind === VV ? 1 : 0,
    };
    for (const [name, value] of Object.entries(values)) {
      WALK_OF_KIND.write(view, name as keyof typeof values, value, WALK_OF_KIND.bytes * n);
    }
    firstGroup += groupsFor(own.count);
  });
  sets.forEach(({ slot, vertices, size }, n) => {
    words.set([slot, vertices, size], WALK_OF_KIND.words * walks.length + SET_OF_SLOTS.words * n);
  });
  return words;
}

const packSlots = (
  { slots, nodes, border, sets, walks }: SearchLayout,
  { distances, kinds }: TopologyTail,
): ArrayBuffer =>
  ELEMENT_SLOTS.pack({
    count: slots,
    first: nodes,
    sets: kinds + WALK_OF_KIND.words * walks.length,
    setCount: sets.length,
    distances,
    border,
  });

const packWalk = (
  layout: SearchLayout,
  finds: number,
  { distances, marks, kinds }: TopologyTail,
  isWriting: boolean,
): ArrayBuffer =>
  SEARCH_WALK.pack({
    isWriting: isWriting ? 1 : 0,
    kinds,
    kindCount: layout.walks.length,
    boxes: layout.nodes,
    hasIgnored: layout.hasIgnored ? 1 : 0,
    parts: layout.parts,
    ignoredFirst: layout.ignoredFirst,
    ignored: layout.ignored,
    chunks: finds,
    distances,
    marks,
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
