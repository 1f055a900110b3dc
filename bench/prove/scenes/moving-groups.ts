import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

/** Edges of about a centimetre, the scale at which the method's defaults were chosen. */
const EDGE = 0.01;

const RINGS = 6;
const AROUND = 9;

const plus = (a: Point, b: Point): Point => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const scaled = (p: Point, s: number): Point => [s * p[0], s * p[1], s * p[2]];

/** A rigid motion: a rotation about an axis through a point, then a shift. */
type Motion = (p: Point) => Point;

function turnAbout(centre: Point, axis: Point, angle: number, shift: Point): Motion {
  const length = Math.hypot(...axis);
  const [x, y, z] = scaled(axis, 1 / length);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return (point) => {
    const [p, q, r] = [point[0] - centre[0], point[1] - centre[1], point[2] - centre[2]];
    const along = (1 - c) * (x * p + y * q + z * r);
    const turned: Point = [
      c * p + s * (y * r - z * q) + along * x,
      c * q + s * (z * p - x * r) + along * y,
      c * r + s * (x * q - y * p) + along * z,
    ];
    return plus(plus(turned, centre), shift);
  };
}

const direction = (random: Random): Point => [random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)];

/** How far targets deviate from a rigid motion, metres: not at all, by rounding, by less than a floor, by a contact. */
const DEVIATIONS = [0, 1e-9, 1e-6, 1e-4, 2e-3];

/** Gaps between a body and its garments, metres: from a hundredth of the usual floor to a contact. */
const GAPS = [1e-7, 1e-6, 4e-6, 8e-6, 1.2e-5, 3e-5, 3e-4, 3e-3];

/** A closed body with shells around it, a strand and grains beside it, which move alike except for small deviations. */
function dressed(b: Builder, random: Random, centre: Point, motion: Motion): number {
  const deviation = random.pick(DEVIATIONS);
  const aim = (p: Point): Point => plus(motion(p), scaled(direction(random), deviation));
  const isKinematic = random.next() < 0.6;
  let radius = random.between(2, 4) * EDGE;
  const place = (r: number) => (d: Point) => plus(centre, scaled(d, r));
  const at = place(radius);
  const body = b.sphere(RINGS, AROUND, at, isKinematic ? (d) => motion(at(d)) : (d) => aim(at(d)), isKinematic);
  const shells = random.below(3);
  for (let s = 0; s < shells; s++) {
    radius += random.pick(GAPS) * (1 + random.next());
    const on = place(radius);
    const shell = b.sphere(RINGS, AROUND, on, (d) => aim(on(d)));
    b.invariants.push({ kind: 'WINDING', triangles: shell.triangles, points: body.vertices });
  }
  // Pointed ends of the shells: grains and a strand just above the poles.
  const top = radius + random.pick(GAPS) * (1 + random.next());
  const grain: Point = plus(centre, [0, 0, top]);
  b.particle(grain, aim(grain));
  const strand: Point[] = Array.from({ length: 4 }, (_, k) => plus(centre, [0, 0, -top - k * EDGE]));
  b.strand(strand, strand.map(aim));
  return top + 4 * EDGE;
}

/** Bodies with garments that rotate and move as a whole, past each other and past elements at rest, over a floor. */
export function movingGroups(random: Random): ProveScene {
  const b = new Builder();
  const count = 1 + random.below(3);
  const common = turnAbout(
    [0, 0, 0],
    direction(random),
    random.between(0, 0.4),
    scaled(direction(random), random.between(0, 0.3)),
  );
  const moveTogether = random.next() < 0.3;
  let x = 0;
  for (let k = 0; k < count; k++) {
    const centre: Point = [x, random.between(-0.5, 0.5) * EDGE, 0];
    const own = turnAbout(
      centre,
      direction(random),
      random.next() < 0.2 ? random.between(0, Math.PI) : random.between(0, 0.7),
      scaled(direction(random), random.pick([0.02, 0.05, 0.1, 0.3])),
    );
    const motion: Motion = moveTogether ? (p) => common(p) : own;
    const reach = dressed(b, random, centre, motion);
    x += 2 * Math.min(reach, 5 * EDGE) + random.pick([1e-4, 1e-3, 1e-2, 5e-2]);
    if (random.next() < 0.4) {
      // At rest between two of them: a post that is held only by its ends.
      const post: Point[] = Array.from({ length: 7 }, (_, n) => [x, (n - 3) * 4 * EDGE, 0]);
      b.strand(post, post, random.next() < 0.5 ? 7 : 0);
      x += 5 * EDGE + random.pick([1e-3, 1e-2]);
    }
  }
  if (random.next() < 0.7) {
    const height = -0.09 - random.pick([1e-5, 1e-3, 2e-2]);
    const [cells, size] = random.pick([
      [2, 0.6],
      [12, 0.08],
    ]);
    const place = (u: number, v: number): Point => [(u - 0.3) * cells * size, (v - 0.5) * cells * size, height];
    b.sheet(cells, cells, place, place, () => true);
  }
  return { ...b.build(), isJittered: false };
}

/**
 * Leaves that hang over triangles at a small share of the floor and move with them, to targets that bring both nearer
 * by the rounding of a placed vertex: placing them without a test moves them through each other.
 */
export function hairlines(random: Random): ProveScene {
  const b = new Builder();
  const motion = turnAbout([0, 0, 0], direction(random), random.between(0.1, 0.5), [0.2, 0.1, 0]);
  const off = 1.2e-6;
  for (let k = 0; k < 30; k++) {
    const o: Point = [0.03 * (k % 6), 0.03 * Math.floor(k / 6), 0];
    const apart = random.between(1e-6, 2.2e-6);
    const put = (x: number, y: number, z: number, drift: number): number => {
      const at: Point = plus(o, [x, y, z]);
      return b.vertex(at, motion(plus(at, [0, 0, drift])));
    };
    b.triangle(put(0, 0, 0, off), put(EDGE, 0, 0, off), put(0, EDGE, 0, off));
    const low = put(0.3 * EDGE, 0.3 * EDGE, apart, -off);
    b.triangle(low, put(0.3 * EDGE, 0.1 * EDGE, EDGE, -off), put(0.1 * EDGE, 0.3 * EDGE, EDGE, -off));
  }
  return { ...b.build(), isJittered: false };
}

/** Bodies around the origin that move, as a whole, to where float32 numbers are farther apart than their layers. */
export function farGroups(random: Random): ProveScene {
  const b = new Builder();
  const shift = scaled(direction(random), 10 ** random.between(3, 6));
  const radius = 3 * EDGE;
  for (const r of [radius, radius + 3e-4, radius + 9e-4]) {
    b.sphere(
      RINGS,
      AROUND,
      (d) => scaled(d, r),
      (d) => plus(scaled(d, r), shift),
    );
  }
  return { ...b.build(), isJittered: false };
}
