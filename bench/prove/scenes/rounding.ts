import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

/*
 * Scenes that depend on how the method treats rounding. Their coordinates are float32 numbers whose last bits matter, so they
 * are sent unchanged (isExact).
 */

const f = Math.fround;
const single = (p: Point): Point => [f(p[0]), f(p[1]), f(p[2])];
const unit = (p: Point): Point => {
  const length = Math.hypot(...p);
  return [p[0] / length, p[1] / length, p[2] / length];
};
const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Point, b: Point): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Point, b: Point): Point => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const along = (a: Point, d: Point, s: number): Point => [a[0] + s * d[0], a[1] + s * d[1], a[2] + s * d[2]];
const anyDirection = (random: Random): Point =>
  unit([random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)]);

/** Edges from which δ is computed, away from all other elements. */
function ordinaryEdges(b: Builder, count: number, edge: number): void {
  for (let k = 0; k < count; k++) {
    const at: Point = single([0.03 * (k % 50) - 0.7, 0.7, 0.02 * Math.floor(k / 50)]);
    b.strand([at, single([at[0], at[1] + edge, at[2]])]);
  }
}

/**
 * Rods of two metres with a grain beside each, so close that the direction between their nearest points, computed in
 * float32, is accurate only to a thousandth: a plane across it does not separate them. One end of the rod moves so that
 * the rod sweeps over the grain. Sent under PROTECT, because all of them are kinematic: nothing pushes them aside.
 */
export function longRods(random: Random): ProveScene {
  const b = new Builder();
  const axis = anyDirection(random);
  const across = unit(cross(axis, anyDirection(random)));
  const third = cross(axis, across);
  for (let k = 0; k < 40; k++) {
    const up = unit(cross(axis, anyDirection(random)));
    const middle = along(along([0, 0, 0], across, 0.05 * (k % 7) - 0.15), third, 0.05 * Math.floor(k / 7) - 0.15);
    const [p, q] = [single(along(middle, axis, -1)), single(along(middle, axis, 1))];
    const apart = 10 ** random.between(-4.3, -3.5);
    const at = along(p, minus(q, p), random.between(0.4, 0.6));
    const grain = single(along(at, up, apart));
    const lift = 3e-3;
    const isFirst = random.next() < 0.5;
    const rod = [p, q].map((end, i) => b.vertex(end, (i === 0) === isFirst ? single(along(end, up, lift)) : end, true));
    b.segment(rod[0], rod[1]);
    b.particle(grain, grain, true);
  }
  ordinaryEdges(b, 60, 0.01);
  return { ...b.build(), isJittered: false, isExact: true };
}

/**
 * Grains that slide over triangles, a metre from the middle of the mesh and less than the last bit of a coordinate above
 * them: a step whose written positions are not checked may end on either side.
 */
export function slidingGrains(random: Random): ProveScene {
  const b = new Builder();
  const size = 0.002;
  for (let k = 0; k < 60; k++) {
    const middle: Point = [k % 2 === 0 ? -1 : 1, 0.06 * (k % 12) - 0.4, 0.06 * Math.floor(k / 12)];
    const normal = anyDirection(random);
    const first = unit(cross(normal, anyDirection(random)));
    const second = cross(normal, first);
    const put = (s: number, t: number): Point => single(along(along(middle, first, s * size), second, t * size));
    const corners = [put(-0.4, -0.4), put(0.6, -0.4), put(-0.4, 0.6)];
    const exact = unit(cross(minus(corners[1], corners[0]), minus(corners[2], corners[0])));
    const height = (p: Point) => dot(minus(p, corners[0]), exact);
    // The float32 numbers there lie at all heights; the grain is above by less than one ulp.
    let grain: Point | undefined;
    for (let n = 0; n < 400; n++) {
      const at = put(random.between(-0.25, -0.15), random.between(-0.25, -0.15));
      if (height(at) > 5e-9 && height(at) < 3e-8) {
        grain = at;
        break;
      }
    }
    if (!grain) continue;
    for (const [i, v] of corners.map((corner) => b.vertex(corner, corner, true)).entries()) {
      if (i === 2) b.triangle(v - 2, v - 1, v);
    }
    const slide = along(along(grain, first, random.between(0, 0.05)), second, 0.05);
    b.particle(grain, single(along(slide, exact, -height(slide))));
  }
  ordinaryEdges(b, 200, 0.01);
  return { ...b.build(), isJittered: false, isExact: true };
}

/**
 * Kinematic grains that cross triangles of two metres, above them by less than the rounding error of a height, towards a place
 * as little below: by the plane that float32 computes they may stay above. Under PROTECT nothing pushes them aside.
 */
export function grainsOverSails(random: Random): ProveScene {
  const b = new Builder();
  const normal = anyDirection(random);
  const axis = unit(cross(normal, anyDirection(random)));
  const across = cross(normal, axis);
  for (let k = 0; k < 24; k++) {
    const middle = along([0, 0, 0], normal, 0.01 * k - 0.12);
    const put = (s: number, t: number, up = 0): Point =>
      single(along(along(along(middle, axis, s), across, t), normal, up));
    const sail = [put(-1, -0.5), put(1, -0.5 + 0.1 * random.next()), put(random.between(-0.3, 0.3), 0.5)];
    const exact = unit(cross(minus(sail[1], sail[0]), minus(sail[2], sail[0])));
    const height = (p: Point) => dot(minus(p, sail[0]), exact);
    const find = (s: number, t: number, low: number, high: number): Point | undefined => {
      for (let n = 0; n < 200; n++) {
        const at = put(s, t + random.between(-0.01, 0.01), random.between(-1, 1) * 1e-7);
        if (height(at) > low && height(at) < high) return at;
      }
      return undefined;
    };
    const [p, q, r] = sail.map((corner) => b.vertex(corner, corner, true));
    b.triangle(p, q, r);
    // Beside each other, so that none obstructs another.
    for (let n = 0; n < 12; n++) {
      const grain = find(-0.5 + 0.02 * n, -0.35 + 0.02 * n, 2e-9, 5e-8);
      const goal = find(0.3 + 0.02 * n, -0.35 + 0.02 * n, -3e-8, -1e-9);
      if (grain && goal) b.particle(grain, goal, true);
    }
  }
  ordinaryEdges(b, 120, 0.01);
  return { ...b.build(), isJittered: false, isExact: true };
}

/**
 * Grains very close to triangles of a micrometre, all of which move along these together, so far that the gap between
 * them is less than an ulp of float32 there. They are beyond the reach of contacts: a plane separates them before a
 * step and at the end of it, but not in the rounded numbers.
 */
export function farFlights(random: Random): ProveScene {
  const b = new Builder();
  const edge = 2 ** -20;
  const away = random.between(30, 60);
  for (let k = 0; k < 24; k++) {
    const [p, q] = [2 ** -13 * (k % 6), 2 ** -13 * Math.floor(k / 6)];
    // `beside` is across the diagonal of x and y, along which they fly.
    const put = (forth: number, up: number, beside: number): number => {
      const at: Point = [p + edge * (forth + beside), p + edge * (forth - beside), q + edge * up];
      return b.vertex(single(at), single([away, away, at[2]]));
    };
    b.triangle(put(-1, -0.5, 0), put(1, -0.4, 0), put(0, 1, 0));
    b.point(put(random.between(-0.1, 0.1), random.between(-0.1, 0.1), random.between(0.25, 0.4)));
  }
  return { ...b.build(), isJittered: false, isExact: true };
}

/**
 * Small sheets on top of each other, turned over and moved beyond 1 in one step, which is less than 1 from the frame's
 * origin: an engine distinguishes them there, but the numbers that are sent, which are twice as coarse, may not.
 */
export function farLandings(random: Random): ProveScene {
  const b = new Builder();
  const [edge, near, away, gap] = [5e-5, 0.4, random.between(0.65, 0.9), 4e-7];
  const sheets = 4;
  for (let k = 0; k < sheets; k++) {
    const corners = [0, 1, 2, 3].map((corner) => {
      const at = (height: number): Point => [near + edge * (corner >> 1), near + edge * (corner & 1), near + height];
      const over = gap * (sheets - 1 - k) + random.between(-0.5, 0.5) * gap;
      // Kinematic: under PROTECT nothing pushes them apart.
      return b.vertex(single(at(gap * (k + random.between(0, 0.3)))), single(at(away + over)), true);
    });
    b.triangle(corners[0], corners[1], corners[2]);
    b.triangle(corners[1], corners[3], corners[2]);
  }
  return { ...b.build(), isJittered: false, isExact: true };
}
