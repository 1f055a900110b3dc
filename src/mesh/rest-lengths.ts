import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';

/** Stands for the length of an edge for which the caller sets none: its length in the target is used. */
export const BY_TARGET = -1;

/**
 * Lengths at rest, to which the limit σ of an edge relates instead of its length in the target; the caller's unit. 0 =
 * the edge has no limit, {@link BY_TARGET} = its length in the target is used.
 */
export interface RestLengths {
  /** float64[E] of the contact edges */
  readonly edges: Float64Array;
  /** float64[I] of the edges inside solids */
  readonly innerEdges: Float64Array;
  /** the longest of them; 0 if there are none */
  readonly longest: number;
}

/**
 * The longest length at rest, in lengths of the coordinate frame (frameLength in src/solver/frame.ts). In engine units
 * it is below 2⁴¹, so that σ times it, squared, is a float32 number for every σ below 2²². A longer one must be in
 * another unit than the positions.
 */
const LONGEST_AT_REST = 2 ** 40;

/**
 * @param edges uint32[2·E] contact edges, lower id first
 * @param innerEdges uint32[2·I] edges inside solids, lower id first
 * @returns undefined if the caller sets no lengths
 * @throws IntersticeError SIZE_MISMATCH (arrays), NOT_FINITE (positions), INDEX_OUT_OF_RANGE (ends), INVALID_PARAMETER
 *   (a length, set or between positions, that is not finite; neither positions nor edges), INVALID_MESH (an edge that
 *   the mesh does not have, or that is listed twice), naming the edge
 */
export function readRestLengths(
  { restLengths, vertexCount }: Pick<MeshInput, 'restLengths' | 'vertexCount'>,
  edges: Uint32Array,
  innerEdges: Uint32Array,
): RestLengths | undefined {
  if (!restLengths) return undefined;
  const { positions, edges: ends = new Uint32Array(0), lengths = new Float32Array(0) } = restLengths;
  if (!positions && ends.length === 0 && lengths.length === 0) {
    throw new IntersticeError('INVALID_PARAMETER', 'mesh.restLengths has neither positions nor edges.', {
      hint: 'Set mesh.restLengths.positions, or edges and lengths; or leave mesh.restLengths unset.',
    });
  }
  checkSizes(positions, ends, lengths, vertexCount);
  if (positions) checkFinite(positions);
  const named = readNamed(ends, lengths, vertexCount);
  let longest = 0;
  const lengthsOf = (list: Uint32Array): Float64Array => {
    const found = new Float64Array(list.length / 2);
    for (let e = 0; e < found.length; e++) {
      const a = list[2 * e]!;
      const b = list[2 * e + 1]!;
      const own = named?.take(a, b);
      found[e] = own ?? (positions ? lengthBetween(positions, a, b) : BY_TARGET);
      longest = Math.max(longest, found[e]!);
    }
    return found;
  };
  const rest = { edges: lengthsOf(edges), innerEdges: lengthsOf(innerEdges) };
  named?.refuseUnknown();
  return { ...rest, longest };
}

/** @param frameLength the caller's unit @throws INVALID_PARAMETER for a length beyond {@link LONGEST_AT_REST} */
export function checkRestLengths(rest: RestLengths | undefined, frameLength: number): void {
  if (!rest || rest.longest <= LONGEST_AT_REST * frameLength) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `The longest edge of mesh.restLengths is ${rest.longest}, more than ${LONGEST_AT_REST} times the median edge.`,
    { hint: 'Lengths at rest are in the unit of the positions.' },
  );
}

/** The length of an edge at rest; undefined = it has none. @param rest of {@link RestLengths} */
export function ownLength(rest: number | undefined): number | undefined {
  return rest === BY_TARGET ? undefined : rest;
}

/**
 * The square of the length to which an edge's limit relates.
 *
 * @param rest its length at rest, the caller's unit; undefined or {@link BY_TARGET} = it has none
 * @param inTargetSquared of its length in the target times `scale`
 */
export function referenceSquared(rest: number | undefined, inTargetSquared: number, scale: number): number {
  const own = ownLength(rest);
  return own === undefined ? inTargetSquared : (own * scale) ** 2;
}

function checkSizes(
  positions: Positions | undefined,
  ends: Uint32Array,
  lengths: Float32Array,
  vertexCount: number,
): void {
  if (positions && positions.length !== 3 * vertexCount) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `mesh.restLengths.positions has ${positions.length} numbers; it must have three for each of the ${vertexCount} vertices.`,
    );
  }
  if (ends.length === 2 * lengths.length) return;
  throw new IntersticeError(
    'SIZE_MISMATCH',
    `mesh.restLengths has ${ends.length} ids in edges and ${lengths.length} lengths; every length needs two ids.`,
  );
}

function checkFinite(positions: Positions): void {
  for (let k = 0; k < positions.length; k++) {
    if (Number.isFinite(positions[k])) continue;
    const vertex = Math.floor(k / 3);
    throw new IntersticeError('NOT_FINITE', `The position of vertex ${vertex} in mesh.restLengths is not finite.`, {
      element: { kind: 'vertex', index: vertex, vertices: [vertex] },
    });
  }
}

/** The lengths that are set edge by edge; it also finds those that belong to no edge of the mesh. */
class NamedLengths {
  /** index in the request, by the ends */
  readonly #places = new Map<number, number>();
  readonly #isTaken: Uint8Array;

  constructor(
    readonly ends: Uint32Array,
    readonly lengths: Float32Array,
    readonly vertexCount: number,
  ) {
    this.#isTaken = new Uint8Array(lengths.length);
    for (let n = 0; n < lengths.length; n++) {
      const key = this.#keyOf(ends[2 * n]!, ends[2 * n + 1]!);
      if (this.#places.has(key)) this.#refuse(n, 'is given twice', 'Give every edge one length.');
      this.#places.set(key, n);
    }
  }

  /** The length of an edge of the mesh; undefined = none is set. */
  take(a: number, b: number): number | undefined {
    const n = this.#places.get(this.#keyOf(a, b));
    if (n === undefined) return undefined;
    this.#isTaken[n] = 1;
    return this.lengths[n]!;
  }

  refuseUnknown(): void {
    const n = this.#isTaken.indexOf(0);
    if (n < 0) return;
    const hint = 'Edges are sides of triangles and tetrahedra, and segments.';
    this.#refuse(n, 'is no edge of the mesh', hint);
  }

  #keyOf(a: number, b: number): number {
    return Math.min(a, b) * this.vertexCount + Math.max(a, b);
  }

  #refuse(n: number, what: string, hint: string): never {
    const vertices = [this.ends[2 * n]!, this.ends[2 * n + 1]!];
    throw new IntersticeError('INVALID_MESH', `Edge ${n} of mesh.restLengths, ${vertices.join('-')}, ${what}.`, {
      element: { kind: 'edge', index: n, vertices },
      hint,
    });
  }
}

function readNamed(ends: Uint32Array, lengths: Float32Array, vertexCount: number): NamedLengths | undefined {
  if (lengths.length === 0) return undefined;
  for (let n = 0; n < lengths.length; n++) {
    const vertices = [ends[2 * n]!, ends[2 * n + 1]!];
    const element = { kind: 'edge', index: n, vertices } as const;
    const outside = vertices.find((v) => v >= vertexCount);
    if (outside !== undefined) {
      throw new IntersticeError(
        'INDEX_OUT_OF_RANGE',
        `Edge ${n} of mesh.restLengths names vertex ${outside}; the mesh has ${vertexCount} vertices.`,
        { element },
      );
    }
    const length = lengths[n]!;
    if (length >= 0 && Number.isFinite(length)) continue;
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The length of edge ${n} of mesh.restLengths is ${length}; it must be finite and at least 0.`,
      { element, hint: 'Lengths are in the unit of the positions; 0 means that the edge has no limit.' },
    );
  }
  return new NamedLengths(ends, lengths, vertexCount);
}

/** @throws INVALID_PARAMETER if the distance of two finite points is not finite */
function lengthBetween(x: Positions, a: number, b: number): number {
  const length = Math.hypot(x[3 * a]! - x[3 * b]!, x[3 * a + 1]! - x[3 * b + 1]!, x[3 * a + 2]! - x[3 * b + 2]!);
  if (Number.isFinite(length)) return length;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `Vertices ${a} and ${b} in mesh.restLengths.positions are too far from each other for their distance to be a number.`,
    { hint: 'Lengths at rest are in the unit of the positions.' },
  );
}
