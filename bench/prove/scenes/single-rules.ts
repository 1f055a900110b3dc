import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

/*
 * Scenes that each depend on one rule of the method: an engine without this rule fails in its scene. They are ordinary
 * cases of the campaign as well. the campaign as well.
 */

const EDGE = 0.01;
/** δ of a mesh whose median edge is EDGE */
const DELTA = 0.1 * EDGE;
/** Half a side of a trust box without a leap: ρ = 1.8 δ */
const REACH = 1.8 * DELTA;

/**
 * Cloths that are held along a border, where the held borders run into each other and into a kinematic plate: all
 * elements that touch first are kinematic, and they guard the cloths that hang on them.
 */
export function heldBorders(random: Random): ProveScene {
  const b = new Builder();
  const side = random.between(-0.012, 0.012);
  const height = random.between(0.002, 0.006);
  const fall = height + random.between(0.008, 0.02);
  // Lies flat, held along x = 0.
  b.sheet(
    5,
    6,
    (u, v) => [5 * EDGE * u, 6 * EDGE * (v - 0.5), 0],
    (u, v) => [5 * EDGE * u, 6 * EDGE * (v - 0.5), 0],
    (u) => u === 0,
  );
  // Stands upright above that border, across it, held along its lower side, and descends.
  const standing = (drop: number) => {
    const shift = random.between(-0.004, 0.004);
    return (u: number, v: number): Point => [
      4 * EDGE * (u - 0.6) + shift,
      side + 0.1 * EDGE * u,
      height + 3 * EDGE * v - drop,
    ];
  };
  const place = standing(0);
  b.sheet(
    4,
    3,
    place,
    (u, v) => [place(u, v)[0], place(u, v)[1], place(u, v)[2] - fall],
    (_, v) => v === 0,
  );
  // A plate below, most of it beside the cloth, rises against the held corners.
  const plate =
    (rise: number) =>
    (u: number, v: number): Point => [0.06 * (u - 0.96), side + 0.025 + 0.02 * v, -height + rise];
  b.sheet(2, 2, plate(0), plate(fall), () => true);
  return b.build();
}

/**
 * Pairs of grains that approach each other, about as far apart as two trust boxes are wide: many boxes are disjoint by
 * less than a floor, and only the growth of the search keeps their grains farther apart. A second step would separate
 * them again.
 */
export function closingGrains(random: Random): ProveScene {
  const b = new Builder();
  for (let k = 0; k < 2000; k++) {
    const middle: Point = [0.03 * (k % 35), 0.03 * Math.floor(k / 35), 0];
    const [x, y, z] = [random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)];
    const apart = random.between(2, 3.5) * REACH;
    const half = apart / 2 / (Math.hypot(x, y, z) || 1);
    for (const sign of [-1, 1]) {
      b.particle([middle[0] + sign * half * x, middle[1] + sign * half * y, middle[2] + sign * half * z], middle);
    }
  }
  // Grains have no edges, from which δ is computed.
  for (let k = 0; k < 3; k++)
    b.strand([
      [-0.1, 0.02 * k, 0],
      [-0.1 + EDGE, 0.02 * k, 0],
    ]);
  return b.build();
}

/**
 * Slivers of two metres, three by three, millionths of a metre apart and nearly parallel. Rounding hides on
 * which side the closest lie, so that no plane can be certified and they must not move at all; the nearest points of the others
 * are so inexact that the direction between them is no normal of a separating plane. The outer ones are kinematic and close on
 * the one between them, while each slides along the others.
 */
export function slivers(random: Random): ProveScene {
  const b = new Builder();
  const sliver = (turn: number, z: number, motion: Point, isKinematic: boolean): void => {
    const at = (x: number, y: number): number => {
      const p: Point = [x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn), z];
      return b.vertex(p, [p[0] + motion[0], p[1] + motion[1], p[2] + motion[2]], isKinematic);
    };
    b.triangle(at(-1, 0), at(1, 0.003), at(random.between(-0.5, 0.5), 0.02));
  };
  for (let k = 0; k < 10; k++) {
    const z = 0.06 * (k - 5);
    const gap = 10 ** random.between(-6, -4);
    const along = (up: number): Point => [random.between(-0.02, 0.02), random.between(-0.02, 0.02), up];
    const push = random.between(0, 0.004);
    sliver(random.between(-0.02, -0.002), z - gap, along(push), true);
    sliver(0, z, along(0), false);
    sliver(random.between(0.002, 0.02), z + gap, along(-push), true);
  }
  // Ordinary edges, from which δ is computed.
  for (let k = 0; k < 80; k++)
    b.strand([
      [0.02 * k - 0.8, 0.3, 0],
      [0.02 * k - 0.8 + EDGE, 0.3, 0],
    ]);
  return { ...b.build(), isJittered: false };
}

/**
 * Grains far from the middle of the mesh, each so close above a triangle that float64 resolves their side and float32
 * does not: an engine that rounds begins with some of them below. Either the request is refused for that reason, or
 * they stay above.
 */
export function hairsBreadth(random: Random): ProveScene {
  const b = new Builder();
  const edge = 2e-3;
  for (const side of [-1, 1]) {
    for (let k = 0; k < 20; k++) {
      const slope = random.between(-0.3, 0.3);
      const put = (x: number, y: number, lift: number): Point => [
        side + x,
        0.01 * k + y,
        slope * x - 0.4 * slope * y + lift,
      ];
      const corners = [put(0, 0, 0), put(edge, 0, 0), put(0, edge, 0)].map((p) => b.vertex(p));
      b.triangle(corners[0], corners[1], corners[2]);
      const [x, y] = [random.between(0.2, 0.4) * edge, random.between(0.2, 0.4) * edge];
      const gap = 10 ** random.between(-9, -7.5);
      b.particle(put(x, y, gap), put(x, y, random.between(-1e-3, 1e-3)));
    }
  }
  return { ...b.build(), isJittered: false };
}

/** Two small cloths, a rod and a grain that change places: small enough for a frame of milliseconds. */
export function handkerchiefs(random: Random): ProveScene {
  const b = new Builder();
  const n = 3;
  const apart = random.between(0.003, 0.006);
  const sheet =
    (z: number) =>
    (u: number, v: number): Point => [n * EDGE * (u - 0.5), n * EDGE * (v - 0.5), z];
  b.sheet(n, n, sheet(0), sheet(2 * apart), (u, v) => u === 0 && v === 0);
  b.sheet(n, n, sheet(apart), sheet(-apart));
  const rod = (z: number): Point[] => [0, 1, 2].map((k): Point => [EDGE * (k - 1), random.between(-1e-3, 1e-3), z]);
  b.strand(rod(2 * apart), rod(-2 * apart));
  b.particle([0.003, 0.004, 3 * apart], [0.003, 0.004, -3 * apart]);
  return b.build();
}

/**
 * Pairs of grains too far apart to be in contact, with targets closer than half of the floor: a pair that is skipped
 * because its last normal separates it at both ends of its motion, without a margin of δ, arrives there in one step.
 */
export function closeCalls(random: Random): ProveScene {
  const b = new Builder();
  for (let k = 0; k < 60; k++) {
    const middle: Point = [0.03 * (k % 8), 0.03 * Math.floor(k / 8), 0];
    const axis: Point = [random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)];
    const length = Math.hypot(...axis) || 1;
    const gap = random.between(1.6, 8) * DELTA;
    const left = random.between(0.05, 0.3) * (DELTA / 100);
    for (const sign of [-1, 1]) {
      const at = (apart: number): Point => [
        middle[0] + (sign * apart * axis[0]) / length / 2,
        middle[1] + (sign * apart * axis[1]) / length / 2,
        middle[2] + (sign * apart * axis[2]) / length / 2,
      ];
      b.particle(at(gap), at(left));
    }
  }
  for (let k = 0; k < 3; k++)
    b.strand([
      [-0.1, 0.02 * k, 0],
      [-0.1 + EDGE, 0.02 * k, 0],
    ]);
  return { ...b.build(), isJittered: false };
}

/**
 * A few grains that move far across a sheet at rest, with targets below it: so few vertices move that pairs are gathered from
 * the moving vertices, and P is searched many times.
 */
export function pebbles(random: Random): ProveScene {
  const b = new Builder();
  const n = 22;
  const side = n * EDGE;
  const sheet = (u: number, v: number): Point => [side * (u - 0.5), side * (v - 0.5), 0.002 * Math.sin(9 * u + 4 * v)];
  b.sheet(n, n, sheet, sheet, () => true);
  for (let k = 0; k < 10; k++) {
    const from: Point = [-0.45 * side, side * (0.08 * k - 0.36), random.between(0.004, 0.01)];
    b.particle(from, [
      random.between(0, 0.45) * side,
      from[1] + random.between(-0.2, 0.2) * side * 0.1,
      random.between(-0.03, -0.01),
    ]);
  }
  return b.build();
}
