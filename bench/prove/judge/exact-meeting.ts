import { cross, dot, isZero, subtract, volume, type WholePoint } from './points.js';

/*
 * Do two elements have a common point? Closed elements, any degeneracy, whole numbers throughout: no rounding, no
 * tolerance. An element is given by its one, two or three corners.
 */

const sign = (x: bigint): number => (x > 0n ? 1 : x < 0n ? -1 : 0);

function isPointOnSegment(p: WholePoint, a: WholePoint, b: WholePoint): boolean {
  const along = subtract(b, a);
  const to = subtract(p, a);
  if (isZero(along)) return isZero(to);
  if (!isZero(cross(along, to))) return false;
  const reach = dot(along, to);
  return reach >= 0n && reach <= dot(along, along);
}

function segmentsMeet(p: WholePoint, q: WholePoint, r: WholePoint, s: WholePoint): boolean {
  const first = subtract(q, p);
  const second = subtract(s, r);
  const between = subtract(r, p);
  const normal = cross(first, second);
  if (isZero(normal)) {
    // Parallel, or one is a point: they meet iff an end of one lies on the other.
    return (
      isPointOnSegment(p, r, s) || isPointOnSegment(q, r, s) || isPointOnSegment(r, p, q) || isPointOnSegment(s, p, q)
    );
  }
  if (dot(between, normal) !== 0n) return false;
  const whole = dot(normal, normal);
  const alongFirst = dot(cross(between, second), normal);
  const alongSecond = dot(cross(between, first), normal);
  return alongFirst >= 0n && alongFirst <= whole && alongSecond >= 0n && alongSecond <= whole;
}

function isPointInTriangle(p: WholePoint, a: WholePoint, b: WholePoint, c: WholePoint): boolean {
  const normal = cross(subtract(b, a), subtract(c, a));
  if (isZero(normal)) return isPointOnSegment(p, a, b) || isPointOnSegment(p, b, c) || isPointOnSegment(p, c, a);
  if (dot(normal, subtract(p, a)) !== 0n) return false;
  const sideOf = (from: WholePoint, to: WholePoint) => dot(normal, cross(subtract(to, from), subtract(p, from)));
  return sideOf(a, b) >= 0n && sideOf(b, c) >= 0n && sideOf(c, a) >= 0n;
}

function segmentMeetsTriangle(p: WholePoint, q: WholePoint, a: WholePoint, b: WholePoint, c: WholePoint): boolean {
  const atP = sign(volume(a, b, c, p));
  const atQ = sign(volume(a, b, c, q));
  if (atP * atQ > 0) return false;
  if (atP === 0 && atQ === 0) {
    // In one plane, or the triangle has no area and is the union of its sides.
    return (
      isPointInTriangle(p, a, b, c) ||
      isPointInTriangle(q, a, b, c) ||
      segmentsMeet(p, q, a, b) ||
      segmentsMeet(p, q, b, c) ||
      segmentsMeet(p, q, c, a)
    );
  }
  // The line crosses the plane in one point, between p and q; it is in the triangle iff the line passes all three sides
  // on the same hand.
  const hands = [sign(volume(p, q, a, b)), sign(volume(p, q, b, c)), sign(volume(p, q, c, a))];
  return !(hands.includes(1) && hands.includes(-1));
}

/**
 * @param a one or two corners (three are on side b)
 * @param b one, two or three corners
 */
export function elementsMeet(a: readonly WholePoint[], b: readonly WholePoint[]): boolean {
  if (a.length > b.length) return elementsMeet(b, a);
  if (a.length === 1 && b.length === 1) return isZero(subtract(a[0], b[0]));
  if (a.length === 1 && b.length === 2) return isPointOnSegment(a[0], b[0], b[1]);
  if (a.length === 1) return isPointInTriangle(a[0], b[0], b[1], b[2]);
  if (b.length === 2) return segmentsMeet(a[0], a[1], b[0], b[1]);
  if (a.length === 2) return segmentMeetsTriangle(a[0], a[1], b[0], b[1], b[2]);
  throw new Error('two triangles meet iff an edge of one meets the other: ask for those');
}
