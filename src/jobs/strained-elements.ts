import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { Status, StrainReport } from '../contract/report.js';
import { NO_CORNER } from '../mesh/strain.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { CoordinateFrame } from '../solver/frame.js';
import { deformationGradient, determinant, principalStrains } from '../solver/strain/deformation.js';
import { arePlain, signOfVolume } from '../verify/predicates.js';
import { remedyOfEarlyEnd } from './fidelity.js';

/**
 * A principal strain counts as out of its limits if it exceeds them by more than this, a length relative to that at
 * rest: the sweeps of the pull-back approach a limit without reaching it, and a motion of less than 0.0002 edges is not
 * made.
 */
export const STRAIN_TOLERANCE = 1e-3;

/**
 * In addition, rounding alone changes the strain of a thin element. Let ε be the coarser of the spacings of float32 at
 * the element's engine coordinates and of the answer's scalar at the caller's. The engine's position and the one that
 * is sent differ by at most 3 ε per coordinate (src/jobs/overlong-edges.ts), two corners by 6 √3 ε, and F by that times
 * Σ |b_k|.
 */
const ROUNDINGS = 6 * Math.sqrt(3);

/** Spacing of numbers just above 1, by scalar */
const SPACING = { float32: 2 ** -23, float64: 2 ** -52 } as const;

/**
 * Principal strains of an answer against their limits, over the elements with a dynamic corner, in the caller's own numbers.
 *
 * @returns undefined if the mesh has no strain limits
 */
export function findStrainedElements(
  { strain, kinematic }: Pick<CollisionMesh, 'strain' | 'kinematic'>,
  answer: Positions,
  frame: Pick<CoordinateFrame, 'origin' | 'scale'>,
): StrainReport | undefined {
  if (!strain) return undefined;
  const { corners, gradients, triangleCount } = strain;
  const f = new Float64Array(9);
  const found = { violated: 0, inverted: 0, least: Number.POSITIVE_INFINITY, most: 0 };
  let worst: StrainReport['worst'];
  let farthest = 0;
  for (let e = 0; e < corners.length / 4; e++) {
    const isTriangle = corners[4 * e + 3] === NO_CORNER;
    const own = corners.subarray(4 * e, 4 * e + (isTriangle ? 3 : 4));
    if (own.every((v) => kinematic[v] !== 0)) continue;
    deformationGradient(answer, corners, gradients, e, f);
    const { least: smallest, most } = principalStrains(f, isTriangle);
    const isTurned = !isTriangle && isInverted(answer, own, gradients.subarray(9 * e, 9 * e + 9));
    const least = (isTurned ? -1 : 1) * Math.abs(smallest);
    found.least = Math.min(found.least, least);
    found.most = Math.max(found.most, most);
    if (isTurned) found.inverted++;
    const under = strain.least[e]! > 0 ? strain.least[e]! - least : 0;
    const over = most - strain.most[e]!;
    const excess = Math.max(under, over);
    if (!(excess > STRAIN_TOLERANCE + roundingOf(answer, own, gradients.subarray(9 * e, 9 * e + 9), frame))) continue;
    found.violated++;
    if (excess <= farthest) continue;
    farthest = excess;
    worst = {
      element: {
        kind: isTriangle ? 'triangle' : 'tetrahedron',
        index: isTriangle ? e : e - triangleCount,
        vertices: [...own],
      },
      strain: over >= under ? most : least,
      limit: over >= under ? strain.most[e]! : strain.least[e]!,
    };
  }
  if (found.least > found.most) return { violated: 0, inverted: 0, min: 1, max: 1 };
  const { violated, inverted, least: min, most: max } = found;
  return { violated, inverted, min, max, ...(worst ? { worst } : {}) };
}

/**
 * Whether a tetrahedron is turned inside out relative to its rest shape, decided exactly on the positions: det F is
 * only rounding in one that is crushed to a line, or to a plane. The determinant of the gradients has the sign of the
 * volume at rest, because a flat rest shape is refused.
 */
function isInverted(answer: Positions, own: Uint32Array, gradients: Float64Array): boolean {
  const points = Array.from(own, (v) => Array.from(answer.subarray(3 * v, 3 * v + 3)));
  const [[ax, ay, az], [bx, by, bz], [cx, cy, cz], [dx, dy, dz]] = points as unknown as readonly [
    Point,
    Point,
    Point,
    Point,
  ];
  const volume = signOfVolume(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz, arePlain(points.flat()));
  // signOfVolume measures the corners from the last one, which reverses the sign of (b − a) × (c − a) · (d − a).
  return volume * Math.sign(determinant(gradients)) > 0;
}

type Point = readonly [number, number, number];

/** Strain by which rounding may change that of an element. @param own its corners @param gradients [9] b_1, b_2, b_3 */
export function roundingOf(
  answer: Positions,
  own: Uint32Array,
  gradients: Float64Array,
  { origin, scale }: Pick<CoordinateFrame, 'origin' | 'scale'>,
): number {
  let engine = 0;
  let caller = 0;
  for (const v of own) {
    for (let c = 0; c < 3; c++) {
      const coordinate = answer[3 * v + c]!;
      engine = Math.max(engine, Math.abs(coordinate - origin[c]!));
      caller = Math.max(caller, Math.abs(coordinate));
    }
  }
  const ofAnswer = SPACING[answer instanceof Float32Array ? 'float32' : 'float64'];
  // The engine's map to its own units is a shift and a power of two, so its spacing is that of the shifted number.
  const spacing = scale > 0 ? Math.max(SPACING.float32 * engine, ofAnswer * caller) : 0;
  let steepness = 0;
  for (let k = 0; k < 9; k += 3) steepness += Math.hypot(gradients[k]!, gradients[k + 1]!, gradients[k + 2]!);
  return ROUNDINGS * spacing * steepness;
}

/** The warning names elements out of their strain limits, like that of overlong edges. */
export function warnOfStrained(
  strain: StrainReport | undefined,
  { quality, method }: Pick<Parameters, 'quality' | 'method'>,
  status: Status,
): Warning[] {
  if (!strain?.worst) return [];
  const { violated, worst } = strain;
  const { element, strain: value, limit } = worst;
  const many = violated === 1 ? '1 element has a principal strain' : `${violated} elements have a principal strain`;
  const turned = value < 0 ? ', so it is turned inside out' : '';
  const remedy =
    method === 'VOLUME_IMPULSES'
      ? 'Volume-preserving impulses do not limit strains; method TWO_WAY does.'
      : quality === 'FAST'
        ? 'Qualities BALANCED and FINE keep strains within their limits where the path allows it.'
        : (remedyOfEarlyEnd(status) ??
          'Contacts, pins or the number of sweeps allow no more: choose a target that is easier to reach, wider limits, FINE, or send the target again.');
  return [
    {
      code: 'STRAINED_ELEMENTS',
      message: `${many} out of its limits by more than ${STRAIN_TOLERANCE}; the worst, of ${element.kind} ${element.index}, is ${value.toPrecision(4)}${turned}; its limit is ${limit.toPrecision(4)}. ${remedy}`,
      element,
      count: violated,
    },
  ];
}
