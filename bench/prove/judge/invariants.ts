import { crossOf, dotOf, minusOf, type Vector } from './nearest.js';

/*
 * Properties that cannot change on a path without intersections, whatever the path: the side of a closed surface on
 * which a point is, and how often two closed curves are linked. They reveal a tunnelling from the answer alone, without
 * any knowledge of the path.
 */

export type Invariant =
  | { readonly kind: 'WINDING'; readonly triangles: readonly (readonly number[])[]; readonly points: readonly number[] }
  | { readonly kind: 'LINKING'; readonly loops: readonly (readonly number[])[] };

/** The numbers that must be the same at the start and in the answer. */
export function measureInvariant(invariant: Invariant, x: ArrayLike<number>): number[] {
  if (invariant.kind === 'WINDING') return invariant.points.map((v) => windingNumber(x, invariant.triangles, v));
  const { loops } = invariant;
  return loops.flatMap((a, i) => loops.slice(i + 1).map((b) => linkingNumber(x, a, b)));
}

const at = (x: ArrayLike<number>, v: number): Vector => [x[3 * v], x[3 * v + 1], x[3 * v + 2]];
const unit = (a: Vector): Vector => {
  const length = Math.hypot(...a);
  return [a[0] / length, a[1] / length, a[2] / length];
};

/** Solid angle of the triangle of three unit vectors (van Oosterom and Strackee). */
function solidAngle(a: Vector, b: Vector, c: Vector): number {
  const triple = dotOf(a, crossOf(b, c));
  return 2 * Math.atan2(triple, 1 + dotOf(a, b) + dotOf(b, c) + dotOf(c, a));
}

export function windingNumber(x: ArrayLike<number>, triangles: readonly (readonly number[])[], point: number): number {
  const o = at(x, point);
  let sum = 0;
  for (const [a, b, c] of triangles) {
    sum += solidAngle(unit(minusOf(at(x, a), o)), unit(minusOf(at(x, b), o)), unit(minusOf(at(x, c), o)));
  }
  return nearestInteger(sum / (4 * Math.PI));
}

/** Gauss's integral over two closed polygons: each pair of segments spans a spherical quadrangle of directions. */
export function linkingNumber(x: ArrayLike<number>, first: readonly number[], second: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < first.length; i++) {
    const [a, b] = [at(x, first[i]), at(x, first[(i + 1) % first.length])];
    for (let j = 0; j < second.length; j++) {
      const [c, d] = [at(x, second[j]), at(x, second[(j + 1) % second.length])];
      const [ac, ad, bd, bc] = [unit(minusOf(c, a)), unit(minusOf(d, a)), unit(minusOf(d, b)), unit(minusOf(c, b))];
      sum += solidAngle(ac, ad, bd) + solidAngle(ac, bd, bc);
    }
  }
  return nearestInteger(sum / (4 * Math.PI));
}

/** A value far from a whole number means that a point lies on the surface, or that curves touch: it becomes NaN. */
function nearestInteger(value: number): number {
  const whole = Math.round(value);
  return Math.abs(value - whole) < 1e-3 ? whole + 0 : Number.NaN;
}
