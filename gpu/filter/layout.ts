import type { CollisionMesh } from '../../src/mesh/types.js';
import { LEAF_SIZE } from '../../src/solver/constants.js';
import { NO_PART } from '../kernels/constants.js';

/** The filter's buffers that depend only on the mesh, in the order of the first state. */
export interface FilterLayout {
  readonly edgeCount: number;
  readonly triangleCount: number;
  /** a power of two */
  readonly leaves: number;
  /** uint32[E] and uint32[T] element by slot */
  readonly edgeOrder: Uint32Array;
  readonly triangleOrder: Uint32Array;
  /** uint32[2·E] and uint32[3·T] vertices by slot */
  readonly edges: Uint32Array<ArrayBuffer>;
  readonly triangles: Uint32Array<ArrayBuffer>;
  /** see filter/walk.wgsl; one word if no parts are ignored */
  readonly parts: Uint32Array<ArrayBuffer>;
  readonly hasIgnored: boolean;
  readonly partCount: number;
}

/** @param x float32[3·V] within ±1 */
export function layOutFilter(mesh: CollisionMesh, x: Float32Array): FilterLayout {
  const edgeOrder = orderElements(mesh.edges, 2, x);
  const triangleOrder = orderElements(mesh.triangles, 3, x);
  const edges = inOrder(mesh.edges, 2, edgeOrder);
  const triangles = inOrder(mesh.triangles, 3, triangleOrder);
  const leafCount = Math.max(1, Math.ceil(triangleOrder.length / LEAF_SIZE));
  const hasIgnored = mesh.ignoredPartPairs.length > 0;
  return {
    edgeCount: edgeOrder.length,
    triangleCount: triangleOrder.length,
    leaves: 2 ** (32 - Math.clz32(leafCount - 1)),
    edgeOrder,
    triangleOrder,
    edges,
    triangles,
    parts: hasIgnored ? describeParts(mesh, edges, triangles) : new Uint32Array(1),
    hasIgnored,
    partCount: mesh.parts.length,
  };
}

function inOrder(vertices: Uint32Array, size: number, order: Uint32Array): Uint32Array<ArrayBuffer> {
  const sorted = new Uint32Array(vertices.length);
  for (let slot = 0; slot < order.length; slot++) {
    for (let k = 0; k < size; k++) sorted[size * slot + k] = vertices[size * order[slot] + k];
  }
  return sorted;
}

function describeParts(mesh: CollisionMesh, edges: Uint32Array, triangles: Uint32Array): Uint32Array<ArrayBuffer> {
  const { parts, ignoredPartPairs } = mesh;
  const partners = parts.map(() => new Set<number>());
  for (let k = 0; k < ignoredPartPairs.length; k += 2) {
    partners[ignoredPartPairs[k]].add(ignoredPartPairs[k + 1]);
    partners[ignoredPartPairs[k + 1]].add(ignoredPartPairs[k]);
  }
  const firsts = [0];
  for (const set of partners) firsts.push(firsts[firsts.length - 1] + set.size);
  const lists = partners.flatMap((set) => [...set].sort((p, q) => p - q));
  const ownParts = [...partsOf(mesh, edges, 2), ...partsOf(mesh, triangles, 3)];
  return Uint32Array.from([...ownParts, ...firsts, ...lists]);
}

function* partsOf({ partOfVertex }: CollisionMesh, vertices: Uint32Array, size: number): Generator<number> {
  for (let at = 0; at < vertices.length; at += size) {
    const part = partOfVertex[vertices[at]];
    let isWhole = part >= 0;
    for (let k = 1; k < size; k++) isWhole &&= partOfVertex[vertices[at + k]] === part;
    yield isWhole ? part : NO_PART;
  }
}

/** Bits per coordinate of a Morton code: three coordinates fill 30 bits. */
const AXIS_BITS = 10;
const CELLS = 2 ** AXIS_BITS;
const DIGIT_BITS = 15;

/**
 * Orders elements along a Morton curve through their centres, so that neighbours in the order are neighbours in space.
 * The order affects only how tight the tree is, never the pairs found: every element is in it once.
 *
 * @param vertices uint32[size·N]
 * @param x float32[3·V] within ±1
 * @returns uint32[N] element by place
 */
export function orderElements(vertices: Uint32Array, size: 2 | 3, x: Float32Array): Uint32Array<ArrayBuffer> {
  const count = vertices.length / size;
  const codes = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    let code = 0;
    for (let axis = 0; axis < 3; axis++) {
      let sum = 0;
      for (let k = 0; k < size; k++) sum += x[3 * vertices[size * i + k] + axis];
      const cell = Math.floor((sum / size + 1) * (CELLS / 2));
      code |= spread(Math.max(0, Math.min(CELLS - 1, cell))) << axis;
    }
    codes[i] = code;
  }
  const first = sortByDigit(codes, undefined, 0);
  return sortByDigit(codes, first, DIGIT_BITS);
}

/** Spreads ten bits, each followed by two zeros. */
function spread(cell: number): number {
  let bits = cell;
  bits = (bits | (bits << 16)) & 0x030000ff;
  bits = (bits | (bits << 8)) & 0x0300f00f;
  bits = (bits | (bits << 4)) & 0x030c30c3;
  return (bits | (bits << 2)) & 0x09249249;
}

/** Sorts stably by one digit of the code, by counting. */
function sortByDigit(codes: Uint32Array, order: Uint32Array | undefined, shift: number): Uint32Array<ArrayBuffer> {
  const mask = 2 ** DIGIT_BITS - 1;
  const starts = new Uint32Array(mask + 2);
  for (const code of codes) starts[((code >>> shift) & mask) + 1]++;
  for (let digit = 0; digit <= mask; digit++) starts[digit + 1] += starts[digit];
  const sorted = new Uint32Array(codes.length);
  for (let place = 0; place < codes.length; place++) {
    const element = order ? order[place] : place;
    sorted[starts[(codes[element] >>> shift) & mask]++] = element;
  }
  return sorted;
}
