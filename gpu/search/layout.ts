import type { LeftOutPairs } from '../../src/mesh/left-out-pairs.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { LEAF_SIZE } from '../../src/solver/constants.js';
import { findKinematicBorder, findSeams } from '../../src/solver/exclusion-rules.js';
import { mortonOrder } from '../../src/solver/morton.js';
import { EE, VE, VT, VV } from '../../src/solver/pair-kinds.js';
import { MARKS_PER_WORD, ON_SEAM } from '../kernels/constants.js';

/** Elements of one sort, in the Morton order of their first vertices in the state with which the scene was opened. */
export interface ElementSet {
  /** first slot */
  readonly slot: number;
  readonly count: number;
  /** vertices of an element */
  readonly size: number;
  /** place in `topology` of the first element's vertices; those of the others follow */
  readonly vertices: number;
  /** index of node 0 among the boxes; a set without a walk through it has no nodes and one leaf */
  readonly nodes: number;
  /** a power of two */
  readonly leaves: number;
}

/** A walk of the elements of `own`, each a query, through the tree of `other`. */
export interface WalkPass {
  readonly kind: number;
  readonly own: ElementSet;
  readonly other: ElementSet;
  /** number of the first query among those of all walks */
  readonly firstQuery: number;
}

/** The part of a search that depends only on the mesh. */
export interface SearchLayout {
  readonly vertexCount: number;
  /**
   * uint32: the vertices of every element, in the order of the slots. Then, if parts are ignored: the part of each
   * vertex (top bit: on a seam, src/solver/exclusion-rules.ts), the place of each part's first ignored part and an end,
   * and the ignored parts, ascending per part. Then, if a kinematic region has a border: a bit per slot, 1 = at the
   * border (src/solver/exclusion-rules.ts).
   */
  readonly topology: Uint32Array<ArrayBuffer>;
  readonly hasIgnored: boolean;
  /** places in `topology` */
  readonly parts: number;
  readonly ignoredFirst: number;
  readonly ignored: number;
  /** 0 = there is none */
  readonly border: number;
  readonly slots: number;
  /** nodes of all trees, which precede slot 0 if both are stored together */
  readonly nodes: number;
  readonly queries: number;
  /** all sets, in the order of their slots */
  readonly sets: readonly ElementSet[];
  /** the sets that a walk searches */
  readonly trees: readonly ElementSet[];
  readonly walks: readonly WalkPass[];
}

interface Elements {
  readonly vertices: Uint32Array;
  /** vertices per element */
  readonly size: number;
  readonly isWalked: boolean;
  /** uint8 by element; absent = none is at the border of a kinematic region */
  readonly border?: Uint8Array;
}

/**
 * Lays out queries and trees. The order of a tree's elements is computed once, here; it affects how tight the tree is
 * after the mesh has moved far, never the pairs that the search finds.
 *
 * @param x float32[3·V] the state with which the scene is opened
 */
export function layOutSearch(mesh: CollisionMesh, x: Float32Array): SearchLayout {
  const { triangles, edges, rodStart, particles, contactVertices } = mesh;
  const ofBorder = findKinematicBorder(mesh);
  const laid: { readonly elements: Elements; readonly set: ElementSet }[] = [];
  let slots = 0;
  let words = 0;
  let nodes = 0;
  const lay = (elements: Elements): ElementSet => {
    const { vertices, size, isWalked } = elements;
    const count = vertices.length / size;
    const leaves = isWalked ? nextPowerOfTwo(Math.ceil(count / LEAF_SIZE)) : 1;
    const set = { slot: slots, count, size, vertices: words, nodes, leaves };
    laid.push({ elements, set });
    slots += count;
    words += vertices.length;
    if (isWalked) nodes += 2 * leaves;
    return set;
  };
  const walks: WalkPass[] = [];
  const trees: ElementSet[] = [];
  let queries = 0;
  const walk = (kind: number, own: ElementSet, other: ElementSet): void => {
    walks.push({ kind, own, other, firstQuery: queries });
    queries += own.count;
    if (!trees.includes(other)) trees.push(other);
  };
  if (triangles.length > 0) {
    const own = lay({ vertices: contactVertices, size: 1, isWalked: false, border: ofBorder.contactVertices });
    walk(VT, own, lay({ vertices: triangles, size: 3, isWalked: true }));
  }
  if (edges.length > 0) {
    const tree = lay({ vertices: edges, size: 2, isWalked: true, border: ofBorder.edges });
    walk(EE, tree, tree);
  }
  if (particles.length > 0) {
    const points = lay({ vertices: particles, size: 1, isWalked: true });
    const rods = edges.subarray(2 * rodStart);
    if (rods.length > 0) walk(VE, points, lay({ vertices: rods, size: 2, isWalked: true }));
    walk(VV, points, points);
  }
  const ignoring = ignoredLists(mesh, words);
  const border = words + ignoring.words.length;
  const hasBorder = laid.some(({ elements }) => elements.border?.includes(1));
  const borderWords = hasBorder ? Math.ceil(slots / MARKS_PER_WORD) : 0;
  const topology = new Uint32Array(border + borderWords);
  const vertexOrder = mortonOrder(x);
  for (const { elements, set } of laid) {
    if (hasBorder) markBorder(topology.subarray(border), firstPlaces(elements, set.slot, vertexOrder), elements);
    const own = topology.subarray(set.vertices, set.vertices + elements.vertices.length);
    if (elements.size === 1) fillPoints(own, elements.vertices, vertexOrder);
    else fillCorners(own, firstPlaces(elements, 0, vertexOrder), elements);
  }
  topology.set(ignoring.words, words);
  return {
    vertexCount: mesh.vertexCount,
    topology,
    ...ignoring.places,
    border: borderWords > 0 ? border : 0,
    slots,
    nodes,
    queries,
    sets: laid.map(({ set }) => set),
    trees,
    walks,
  };
}

const nextPowerOfTwo = (count: number): number => 1 << (32 - Math.clz32(Math.max(1, count) - 1));

/**
 * Returns the place of the first element of each vertex (uint32[V]), counted from `first` on. An element belongs to the
 * first of its vertices.
 * Vertices are in Morton order, the elements of one in the order of the mesh, so that neighbours in a set are near each
 * other. Sorting the elements themselves, up to six times as many, would take longer and improve the trees little.
 */
function firstPlaces({ vertices, size }: Elements, first: number, vertexOrder: Uint32Array): Uint32Array {
  const next = new Uint32Array(vertexOrder.length);
  for (let at = 0; at < vertices.length; at += size) next[vertices[at]]++;
  let place = first;
  for (let n = 0; n < vertexOrder.length; n++) {
    const v = vertexOrder[n];
    const count = next[v];
    next[v] = place;
    place += count;
  }
  return next;
}

/**
 * Writes elements of one vertex each: they are in the order of the vertices, so nothing has to be counted.
 *
 * @param words uint32[n]
 * @param vertices uint32[n], each once
 */
function fillPoints(words: Uint32Array, vertices: Uint32Array, vertexOrder: Uint32Array): void {
  const isElement = new Uint8Array(vertexOrder.length);
  for (let n = 0; n < vertices.length; n++) isElement[vertices[n]] = 1;
  let word = 0;
  for (let n = 0; n < vertexOrder.length; n++) {
    const v = vertexOrder[n];
    if (isElement[v] === 1) words[word++] = v;
  }
}

/**
 * Writes the vertices of elements of two or three each.
 *
 * @param words uint32[size·n]
 * @param next uint32[V] the place of each vertex's first element; is changed
 */
function fillCorners(words: Uint32Array, next: Uint32Array, { vertices, size }: Elements): void {
  const last = size - 1;
  for (let at = 0; at < vertices.length; at += size) {
    const v = vertices[at];
    const word = size * next[v]++;
    words[word] = v;
    words[word + 1] = vertices[at + 1];
    words[word + last] = vertices[at + last];
  }
}

/**
 * Sets the bits of slots whose elements are at the border of a kinematic region.
 *
 * @param next uint32[V] the first slot of each vertex's elements; is changed
 */
function markBorder(words: Uint32Array, next: Uint32Array, { vertices, size, border }: Elements): void {
  if (!border) return;
  for (let at = 0, e = 0; at < vertices.length; at += size, e++) {
    const slot = next[vertices[at]]++;
    if (border[e] === 1) words[Math.floor(slot / MARKS_PER_WORD)] |= 1 << (slot % MARKS_PER_WORD);
  }
}

function ignoredLists(
  mesh: CollisionMesh,
  from: number,
): { words: Uint32Array; places: Pick<SearchLayout, 'hasIgnored' | 'parts' | 'ignoredFirst' | 'ignored'> } {
  const { vertexCount, parts, partOfVertex, ignoredPartPairs } = mesh;
  if (ignoredPartPairs.length === 0) {
    return { words: new Uint32Array(0), places: { hasIgnored: false, parts: 0, ignoredFirst: 0, ignored: 0 } };
  }
  const partners = parts.map(() => new Set<number>());
  for (let n = 0; n < ignoredPartPairs.length; n += 2) {
    partners[ignoredPartPairs[n]].add(ignoredPartPairs[n + 1]);
    partners[ignoredPartPairs[n + 1]].add(ignoredPartPairs[n]);
  }
  const firsts = [0];
  for (const partner of partners) firsts.push(firsts[firsts.length - 1] + partner.size);
  const lists = partners.flatMap((partner) => [...partner].sort((p, q) => p - q));
  const words = new Uint32Array(vertexCount + firsts.length + lists.length);
  const isOnSeam = findSeams(mesh);
  for (let v = 0; v < vertexCount; v++) words[v] = isOnSeam[v] === 1 ? partOfVertex[v] | ON_SEAM : partOfVertex[v];
  words.set(firsts, vertexCount);
  words.set(lists, vertexCount + firsts.length);
  const ignoredFirst = from + vertexCount;
  return { words, places: { hasIgnored: true, parts: from, ignoredFirst, ignored: ignoredFirst + firsts.length } };
}

/** Words of an excluded pair: its vertices in the order of excludedKey (search/pair-rules.wgsl). */
const KEY_WORDS = 4;

/** A range of keys in `topology`, in ascending order. */
export interface KeyRange {
  /** word of the first key */
  readonly first: number;
  readonly count: number;
}

/**
 * The words of `topology` after those of the mesh, and their places: a walk has no binding left for a buffer of them.
 */
export interface TopologyTail {
  readonly words: Uint32Array<ArrayBuffer>;
  /** word of vertex 0's δ, float32 bits; 0 = one δ for all */
  readonly distances: number;
  /** word of the first marks: a bit per vertex, 1 = it belongs to an excluded pair */
  readonly marks: number;
  /** by kind of pair */
  readonly keys: readonly KeyRange[];
  /** word after all of these, where the description of the walks begins (dispatch-plan.ts) */
  readonly kinds: number;
}

/**
 * @param base words of the mesh
 * @param distances float32[V] engine units
 */
export function composeTail(
  base: number,
  vertexCount: number,
  distances: Float32Array | undefined,
  excluded: LeftOutPairs | undefined,
): TopologyTail {
  const keys: number[][][] = [VT, EE, VE, VV].map(() => []);
  if (excluded && !excluded.proximityPairs) {
    throw new Error('The device excludes pairs by a list; this rule has none.');
  }
  for (const { a, b } of excluded?.proximityPairs?.() ?? []) keys[kindOf(a, b)]!.push(paddedKey(a, b));
  for (const list of keys) list.sort(compareKeys);
  const own = distances ? vertexCount : 0;
  const marks = base + own;
  const markWords = excluded ? Math.ceil(vertexCount / MARKS_PER_WORD) : 0;
  let next = marks + markWords;
  const ranges = keys.map((list) => {
    const range = { first: next, count: list.length };
    next += KEY_WORDS * list.length;
    return range;
  });
  const words = new Uint32Array(next - base);
  if (distances) words.set(bitsOf(distances));
  keys.forEach((list, kind) => {
    list.forEach((key, n) => {
      words.set(key, ranges[kind]!.first - base + KEY_WORDS * n);
      for (const v of key) words[own + Math.floor(v / MARKS_PER_WORD)]! |= 1 << (v % MARKS_PER_WORD);
    });
  });
  return { words, distances: distances ? base : 0, marks, keys: ranges, kinds: next };
}

export function bitsOf(distances: Float32Array): Uint32Array<ArrayBuffer> {
  return new Uint32Array(Float32Array.from(distances).buffer);
}

function kindOf(a: readonly number[], b: readonly number[]): number {
  if (a.length === 2) return EE;
  return b.length === 3 ? VT : b.length === 2 ? VE : VV;
}

/**
 * Side a, then side b, the vertices of each in ascending order. A particle counts as an edge from itself to itself;
 * the lower of two edges comes first.
 */
function paddedKey(a: readonly number[], b: readonly number[]): number[] {
  if (b.length === 3) return [...a, ...b];
  const [p, q] = [a, b].map((side) => [side[0]!, side.at(-1)!]);
  const isOrdered = p![0]! < q![0]! || (p![0] === q![0] && p![1]! < q![1]!);
  return isOrdered ? [...p!, ...q!] : [...q!, ...p!];
}

function compareKeys(p: readonly number[], q: readonly number[]): number {
  for (let n = 0; n < KEY_WORDS; n++) if (p[n] !== q[n]) return p[n]! - q[n]!;
  return 0;
}
