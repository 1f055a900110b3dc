import type { ExcludedPairs } from '../../src/mesh/excluded-pairs.js';
import { EE, VE, VT, VV } from '../../src/solver/pair-kinds.js';
import { MARKS_PER_WORD } from '../kernels/constants.js';

/** Words of a pair that is excluded: its vertices in the order of excludedKey (search/pair-rules.wgsl). */
const KEY_WORDS = 4;

/** A run of keys in `topology`, ascending word by word. */
export interface KeyRange {
  /** word of the first key */
  readonly first: number;
  readonly count: number;
}

/** What comes after the mesh in `topology`, because a walk has no binding to spare: words, and where they are. */
export interface TopologyTail {
  readonly words: Uint32Array<ArrayBuffer>;
  /** word of vertex 0's δ, float32 bits; 0 = one δ for all */
  readonly distances: number;
  /** word of the first marks: a bit a vertex, 1 = it is in some pair that is excluded */
  readonly marks: number;
  /** by kind of pair */
  readonly keys: readonly KeyRange[];
}

/**
 * @param base words that the mesh takes
 * @param distances float32[V] engine units
 */
export function composeTail(
  base: number,
  vertexCount: number,
  distances: Float32Array | undefined,
  excluded: ExcludedPairs | undefined,
): TopologyTail {
  const keys: number[][][] = [VT, EE, VE, VV].map(() => []);
  for (const { a, b } of excluded?.proximityPairs() ?? []) keys[kindOf(a, b)]!.push(paddedKey(a, b));
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
  return { words, distances: distances ? base : 0, marks, keys: ranges };
}

export function bitsOf(distances: Float32Array): Uint32Array<ArrayBuffer> {
  return new Uint32Array(Float32Array.from(distances).buffer);
}

function kindOf(a: readonly number[], b: readonly number[]): number {
  if (a.length === 2) return EE;
  return b.length === 3 ? VT : b.length === 2 ? VE : VV;
}

/**
 * Side a, then side b, each ascending as they come. A free point is an edge from itself to itself, and of two edges the
 * lower one comes first.
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
