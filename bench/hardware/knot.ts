import type { ResolveRequest } from '../../src/contract/requests.js';

/** Vertices of one knot; length of its rod and distance between knots, metres. */
const POINTS = 200;
const SIZE = 0.1;
const SPACING = 0.6;

/** An open trefoil of three turns; its ends leave along x. */
function trefoilAt(t: number): [number, number, number] {
  const angle = 2 * Math.PI * (0.04 + 0.92 * t);
  return [
    SIZE * (Math.sin(angle) + 2 * Math.sin(2 * angle)),
    SIZE * (Math.cos(angle) - 2 * Math.cos(2 * angle)),
    -SIZE * 0.8 * Math.sin(3 * angle),
  ];
}

/**
 * Rods with one knot each, whose targets are straight lines of the same length: no path without intersections leads
 * there.
 */
export function makeKnots(vertices: number): ResolveRequest {
  const count = Math.max(1, Math.round(vertices / POINTS));
  const columns = Math.ceil(Math.sqrt(count));
  const start: number[] = [];
  const target: number[] = [];
  const segments: number[] = [];
  for (let knot = 0; knot < count; knot++) {
    const [dx, dy] = [3 * SPACING * (knot % columns), 2 * SPACING * Math.floor(knot / columns)];
    const points = Array.from({ length: POINTS }, (_, i) => trefoilAt(i / (POINTS - 1)));
    const along = [0];
    for (let i = 1; i < POINTS; i++)
      along.push(along[i - 1] + Math.hypot(...points[i].map((p, c) => p - points[i - 1][c])));
    points.forEach(([x, y, z], i) => {
      start.push(x + dx, y + dy, z);
      target.push(along[i] - along[POINTS - 1] / 2 + dx, dy, 0);
      if (i > 0) segments.push(knot * POINTS + i - 1, knot * POINTS + i);
    });
  }
  return {
    mesh: { vertexCount: count * POINTS, segments: Uint32Array.from(segments) },
    start: Float64Array.from(start),
    target: Float64Array.from(target),
    parameters: {},
  };
}
