import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, PartInput, Positions } from '../contract/mesh.js';

/** Stands for the fourth corner of a triangle. */
export const NO_CORNER = 0xffffffff;

/**
 * An element whose smallest height is below this share of its longest edge has no rest shape: the rounding of a float32
 * rest position (2⁻²⁴ of a coordinate) would decide its strains.
 */
const FLATTEST_REST = 1e-6;

/**
 * The elements whose strains have limits: triangles as the caller sent them, then tetrahedra. With the corners u_k of
 * the rest shape and their shape functions N_k, the deformation gradient at positions y is
 *
 *   F = D_y D_u⁻¹ = Σ_k y_k b_kᵀ,   b_k = ∇N_k,   Σ_k b_k = 0
 *
 * with D = [p_1 − p_0, p_2 − p_0 (, p_3 − p_0)]: 3×3 for a tetrahedron, 3×2 for a triangle, in an orthonormal basis of
 * its rest plane. Its singular values are the principal strains (strain limiting paper, Section 3.1): 1 = as long as at
 * rest.
 */
export interface StrainShapes {
  /** uint32[4·N] corners; the last of a triangle is {@link NO_CORNER} */
  readonly corners: Uint32Array;
  /** float64[9·N] b_1, b_2, b_3 of three coordinates each, per unit of length of the caller; 0 for b_3 of a triangle */
  readonly gradients: Float64Array;
  /** the largest absolute value of them: about 1 over the smallest height at rest */
  readonly steepest: number;
  /** float64[N] s_min; 0 = none */
  readonly least: Float64Array;
  /** float64[N] s_max; infinity = none */
  readonly most: Float64Array;
  /** elements before this one are triangles, of the same index as the caller's */
  readonly triangleCount: number;
}

/**
 * The smallest height of an element at rest, in lengths of the coordinate frame (frameLength in src/solver/frame.ts). The
 * strains of an element whose corners lie up to 2⁹ frame lengths apart are then at most Σ_k |p_k − p_0| |b_k| ≤ 3√3 · 2³⁹,
 * below 2⁴², so that their squares and the product of three of them are float32 numbers. 10⁻⁹, between kilometres and
 * micrometres, is more than this; a smaller one must be in another unit than the positions.
 */
const LEAST_AT_REST = 2 ** -30;

/** @param frameLength the caller's unit @throws INVALID_PARAMETER for an element below {@link LEAST_AT_REST} */
export function checkRestShapes(shapes: StrainShapes | undefined, frameLength: number): void {
  if (!shapes || shapes.steepest <= 1 / (LEAST_AT_REST * frameLength)) return;
  const { gradients, corners, triangleCount, steepest } = shapes;
  const at = gradients.findIndex((value) => Math.abs(value) === steepest);
  const height = 1 / Math.hypot(...gradients.subarray(at - (at % 3), at - (at % 3) + 3));
  const e = Math.floor(at / 9);
  const [kind, index] = e < triangleCount ? (['triangle', e] as const) : (['tetrahedron', e - triangleCount] as const);
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `The height of ${kind} ${index} in mesh.strainLimits.rest is ${height}, less than ${LEAST_AT_REST} times the median edge.`,
    {
      element: { kind, index, vertices: [...corners.subarray(4 * e, 4 * e + 4)].filter((v) => v !== NO_CORNER) },
      hint: 'A shape at rest is in the unit of the positions.',
    },
  );
}

/**
 * @param triangles uint32[3·T] as sent
 * @param tetrahedra uint32[4·K] as sent
 * @returns undefined if the caller sets no limits
 * @throws IntersticeError SIZE_MISMATCH, NOT_FINITE, INVALID_PARAMETER (limits), INVALID_MESH (no elements, a rest
 *   shape without area or volume), naming the element
 */
export function readStrainShapes(
  { strainLimits, parts = [], vertexCount }: Pick<MeshInput, 'strainLimits' | 'parts' | 'vertexCount'>,
  triangles: Uint32Array,
  tetrahedra: Uint32Array,
): StrainShapes | undefined {
  refusePartsAlone(parts, strainLimits !== undefined);
  if (!strainLimits) return undefined;
  const { rest, min = 0, max = Number.POSITIVE_INFINITY } = strainLimits;
  checkRange('mesh.strainLimits', min, max);
  if (rest.length !== 3 * vertexCount) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `mesh.strainLimits.rest has ${rest.length} numbers; it must have three for each of the ${vertexCount} vertices.`,
    );
  }
  checkFinite(rest);
  const ranges = parts.map((part, p) => {
    const range = { min: part.strainMin ?? min, max: part.strainMax ?? max };
    checkRange(`mesh.parts[${p}]`, range.min, range.max);
    return { ...range, end: part.firstVertex + part.vertexCount };
  });
  const triangleCount = triangles.length / 3;
  const count = triangleCount + tetrahedra.length / 4;
  if (count === 0) {
    throw new IntersticeError(
      'INVALID_MESH',
      'mesh.strainLimits is set, but there are no triangles and no tetrahedra.',
      {
        hint: 'Only triangles and tetrahedra have strains. For the lengths of segments use stretchLimit.',
      },
    );
  }
  const shapes = {
    corners: new Uint32Array(4 * count).fill(NO_CORNER),
    gradients: new Float64Array(9 * count),
    least: new Float64Array(count).fill(min),
    most: new Float64Array(count).fill(max),
    triangleCount,
  };
  for (let e = 0; e < count; e++) {
    const isTriangle = e < triangleCount;
    const own = isTriangle
      ? triangles.subarray(3 * e, 3 * e + 3)
      : tetrahedra.subarray(4 * (e - triangleCount), 4 * (e - triangleCount) + 4);
    shapes.corners.set(own, 4 * e);
    const gradients = shapes.gradients.subarray(9 * e, 9 * e + 9);
    if (!(isTriangle ? gradientsOfTriangle : gradientsOfTetrahedron)(rest, own, gradients)) {
      const kind = isTriangle ? 'triangle' : 'tetrahedron';
      const index = isTriangle ? e : e - triangleCount;
      throw new IntersticeError(
        'INVALID_MESH',
        `The rest shape of ${kind} ${index} is flat: it has no ${isTriangle ? 'area' : 'volume'}.`,
        {
          element: { kind, index, vertices: [...own] },
          hint: `Its smallest height must be at least ${FLATTEST_REST} of its longest edge in mesh.strainLimits.rest.`,
        },
      );
    }
    // An element that joins parts has the wider limits of both.
    if (ranges.length > 0) {
      shapes.least[e] = Math.min(...Array.from(own, (v) => rangeOf(ranges, v).min));
      shapes.most[e] = Math.max(...Array.from(own, (v) => rangeOf(ranges, v).max));
    }
  }
  return { ...shapes, steepest: shapes.gradients.reduce((most, value) => Math.max(most, Math.abs(value)), 0) };
}

function refusePartsAlone(parts: readonly PartInput[], isSet: boolean): void {
  const index = parts.findIndex(({ strainMin, strainMax }) => strainMin !== undefined || strainMax !== undefined);
  if (isSet || index < 0) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `mesh.parts[${index}] has a strain limit, but mesh.strainLimits is unset: there is no rest shape.`,
    { element: { kind: 'part', index, vertices: [] }, hint: 'Set mesh.strainLimits.rest.' },
  );
}

function checkRange(path: string, min: number, max: number): void {
  if (min >= 0 && min <= 1 && max >= 1 && min < max) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `The strain limits of ${path} are ${min} to ${max}; the smallest must be at least 0 and at most 1, the largest at least 1, and they must differ.`,
    { hint: 'A strain is a length relative to that at rest: 0.95 to 1.05 allows 5 %.' },
  );
}

function checkFinite(rest: Positions): void {
  for (let k = 0; k < rest.length; k++) {
    if (Number.isFinite(rest[k])) continue;
    const vertex = Math.floor(k / 3);
    throw new IntersticeError('NOT_FINITE', `The rest position of vertex ${vertex} is not finite.`, {
      element: { kind: 'vertex', index: vertex, vertices: [vertex] },
    });
  }
}

/** Parts cover all vertices in order, so the first one that ends after a vertex contains it. */
function rangeOf(ranges: readonly { min: number; max: number; end: number }[], vertex: number) {
  let low = 0;
  let high = ranges.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (vertex < ranges[middle]!.end) high = middle;
    else low = middle + 1;
  }
  return ranges[low]!;
}

/**
 * In the basis e_1 = u_1 − u_0 normalised, e_2 perpendicular to it in the plane: D_u = [[l, a], [0, h]], so
 * b_1 = (1/l, −a/(l h)), b_2 = (0, 1/h).
 */
function gradientsOfTriangle(rest: Positions, own: Uint32Array, out: Float64Array): boolean {
  const p = edge(rest, own[0]!, own[1]!);
  const q = edge(rest, own[0]!, own[2]!);
  const length = Math.hypot(...p);
  const longest = Math.max(length, Math.hypot(...q), Math.hypot(q[0] - p[0], q[1] - p[1], q[2] - p[2]));
  if (!(length > 0) || !(longest < Number.POSITIVE_INFINITY)) return false;
  const along = dot(p, q) / length;
  const height = Math.hypot(...cross(p, q)) / length;
  if (!((height * length) / longest >= FLATTEST_REST * longest)) return false;
  out[0] = 1 / length;
  out[1] = -along / (length * height);
  out[4] = 1 / height;
  return true;
}

/** D_u⁻¹ has the rows b_k = (u_i × u_j) / det, cyclically. */
function gradientsOfTetrahedron(rest: Positions, own: Uint32Array, out: Float64Array): boolean {
  const edges = [1, 2, 3].map((k) => edge(rest, own[0]!, own[k]!));
  const normals = [0, 1, 2].map((k) => cross(edges[(k + 1) % 3]!, edges[(k + 2) % 3]!));
  const volume = dot(edges[0]!, normals[0]!);
  let longest = 0;
  for (let a = 0; a < 4; a++)
    for (let b = 0; b < a; b++) longest = Math.max(longest, Math.hypot(...edge(rest, own[a]!, own[b]!)));
  const opposite = [0, 1, 2].map((c) => normals[0]![c]! + normals[1]![c]! + normals[2]![c]!);
  const largestFace = Math.max(...normals.map((n) => Math.hypot(...n)), Math.hypot(...opposite));
  if (!(largestFace > 0) || !(largestFace < Number.POSITIVE_INFINITY)) return false;
  if (!(Math.abs(volume) / largestFace >= FLATTEST_REST * longest)) return false;
  for (let k = 0; k < 3; k++) for (let c = 0; c < 3; c++) out[3 * k + c] = normals[k]![c]! / volume;
  return true;
}

type Vector = readonly [number, number, number];

function edge(x: Positions, a: number, b: number): Vector {
  return [x[3 * b]! - x[3 * a]!, x[3 * b + 1]! - x[3 * a + 1]!, x[3 * b + 2]! - x[3 * a + 2]!];
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
