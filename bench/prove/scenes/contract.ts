import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

/* Scenes for options of the contract: a tangled start, kinds of elements beside each other, borders of bodies. */

const EDGE = 0.01;

/**
 * A wavy sheet that intersects another one, a rod through both and grains beside them: meant for IGNORE_PAIRS. The target
 * separates all of them; half-way back it pushes the separated elements together again.
 */
export function tangle(random: Random): ProveScene {
  const b = new Builder();
  const n = 5;
  const wave = random.between(0.0005, 0.004);
  const flat = (u: number, v: number): Point => [
    n * EDGE * (u - 0.5),
    n * EDGE * (v - 0.5),
    wave * Math.sin(8 * u + 5 * v),
  ];
  b.sheet(n, n, flat, flat, (u, v) => u === 0 && (v === 0 || v === 1));
  const tilt = random.between(0.4, 1.3);
  const shift = random.between(-0.35, 0.35) * EDGE;
  const out: Point = [random.between(-0.02, 0.02), random.between(-0.02, 0.02), random.between(0.03, 0.06)];
  const stuck = (u: number, v: number): Point => [
    n * EDGE * (u - 0.5) * Math.cos(tilt) + shift,
    0.9 * n * EDGE * (v - 0.5) + shift,
    n * EDGE * (u - 0.5) * Math.sin(tilt) + wave * Math.sin(7 * v),
  ];
  const drawn = (p: Point): Point => [p[0] + out[0], p[1] + out[1], p[2] + out[2]];
  b.sheet(n, n, stuck, (u, v) => drawn(stuck(u, v)));
  const rod = [0, 1, 2, 3].map((k): Point => [0.004 + 0.0011 * k, 0.003 - 0.0007 * k, EDGE * (k - 1.6)]);
  b.strand(
    rod,
    rod.map(([x, y, z]) => [x, y, z - 0.05]),
  );
  for (let k = 0; k < 4; k++) {
    const at: Point = [0.008 * k - 0.01, -0.012, 0.008 + 0.001 * k];
    b.particle(at, [at[0], at[1], -at[2]]);
  }
  return b.build();
}

/** Elements of every kind closely above each other, in separate heaps, each with the place of another as its target. */
export function neighbours(random: Random): ProveScene {
  const b = new Builder();
  for (let heap = 0; heap < 6; heap++) {
    const middle: Point = [0.05 * (heap % 3), 0.05 * Math.floor(heap / 3), 0];
    const gaps = Array.from({ length: 7 }, () => 10 ** random.between(-5.6, -2.8));
    const levels = gaps.map((_, k) => gaps.slice(0, k).reduce((sum, gap) => sum + gap, 0));
    const order = levels.map((_, k) => k).sort(() => random.next() - 0.5);
    let kind = 0;
    const next = () => {
      const [from, to] = [levels[kind], levels[order[kind]]];
      kind++;
      const [p, q] = [random.between(-0.004, 0.004), random.between(-0.004, 0.004)];
      return (x: number, y: number, up = 0): [Point, Point] => [
        [middle[0] + x, middle[1] + y, middle[2] + from + up],
        [middle[0] + x + p, middle[1] + y + q, middle[2] + to + up + random.between(-1e-3, 1e-3)],
      ];
    };
    const corner = (ends: [Point, Point], isKinematic = false) => b.vertex(...ends, isKinematic);
    const floor = next();
    const isHeld = random.next() < 0.3;
    b.triangle(
      ...([floor(-EDGE, -EDGE), floor(EDGE, -EDGE), floor(0, EDGE)].map((ends) => corner(ends, isHeld)) as [
        number,
        number,
        number,
      ]),
    );
    const rods = [next(), next()];
    b.segment(corner(rods[0](-0.008, 0.001)), corner(rods[0](0.008, -0.001)));
    b.segment(corner(rods[1](0.001, -0.008)), corner(rods[1](-0.002, 0.007)));
    const grains = [next(), next()];
    for (const [k, grain] of grains.entries()) b.particle(...grain(0.0003 * k, 0.0002));
    const leaf = next();
    b.triangle(corner(leaf(-0.004, -0.005)), corner(leaf(0.006, -0.003)), corner(leaf(0.001, 0.006)));
    const solid = next();
    b.tetrahedron(
      corner(solid(-0.005, -0.004)),
      corner(solid(0.005, -0.005)),
      corner(solid(0, 0.006)),
      corner(solid(0, 0, 0.007)),
    );
  }
  return b.build();
}

/**
 * A cloth that is partly kinematic, with a border that crosses it, and kinematic bodies of every kind that descend
 * on both sides of the border and along it: the bodies meet kinematic elements first, and these guard the dynamic ones.
 */
export function bordersUnderBodies(random: Random): ProveScene {
  const b = new Builder();
  const n = 8;
  const side = n * EDGE;
  const [p, q] = [random.between(-1, 1), random.between(-1, 1)];
  const edge = random.between(-0.2, 0.2);
  const isHeld = (u: number, v: number) => p * (u - 0.5) + q * (v - 0.5) < edge * (Math.abs(p) + Math.abs(q));
  const swell = random.between(0, 0.01);
  b.sheet(
    n,
    n,
    (u, v) => [side * (u - 0.5), side * (v - 0.5), 0],
    (u, v) => [side * (u - 0.5), side * (v - 0.5), isHeld(u, v) ? swell * Math.sin(6 * u + 4 * v) : 0],
    isHeld,
  );
  const length = Math.hypot(p, q) || 1;
  // Places on the border and a little to either side of it.
  const place = (along: number, beside: number): Point => {
    const offset = (edge * (Math.abs(p) + Math.abs(q))) / length / length;
    const [x, y] = [p * offset + (beside * p) / length, q * offset + (beside * q) / length];
    return [side * (x - (along * q) / length), side * (y + (along * p) / length), random.between(0.002, 0.005)];
  };
  const drop = (at: Point): Point => [
    at[0] + random.between(-0.004, 0.004),
    at[1] + random.between(-0.004, 0.004),
    at[2] - random.between(0.006, 0.02),
  ];
  for (let k = 0; k < 4; k++) {
    const at = place(0.2 * (k - 1.5), random.between(-0.15, 0.15));
    const to = drop(at);
    const corner = (dx: number, dy: number, dz: number) =>
      b.vertex([at[0] + dx, at[1] + dy, at[2] + dz], [to[0] + dx, to[1] + dy, to[2] + dz], true);
    if (k === 0) b.triangle(corner(0, 0, 0), corner(0.009, 0.002, 0.012), corner(-0.006, 0.004, 0.011));
    else if (k === 1) b.segment(corner(-0.006, 0.001, 0), corner(0.007, -0.002, 0.002));
    else if (k === 2)
      b.tetrahedron(corner(0, 0, 0), corner(0.008, 0, 0.01), corner(-0.005, 0.006, 0.01), corner(-0.004, -0.006, 0.01));
    else b.particle(at, to, true);
  }
  return b.build();
}

/** Spacing of the lattice of `touching`: its coordinates are float32 numbers, and so are the midpoints. */
const STEP = 2 ** -9;

/**
 * Triangles with a rod at a corner that lies in their plane, across the opposite side or with its end on the triangle,
 * or slightly above it: nothing pierces anything, and yet most of these touch. Targets move some of the rods away and
 * others through. Grains above them have targets below.
 */
export function touching(random: Random): ProveScene {
  const b = new Builder();
  for (let k = 0; k < 9; k++) {
    const origin: Point = [(k % 3) / 16, Math.floor(k / 3) / 16, 0];
    const axes = [0, 1, 2].sort(() => random.next() - 0.5);
    const shear = random.below(3) - 1;
    const put = (x: number, y: number, z: number): Point => {
      const p = [x + shear * z, y + shear * x, z];
      return [0, 1, 2].map((c) => origin[c] + STEP * p[axes[c]]) as unknown as Point;
    };
    const lift = random.between(-8, 8);
    const isHeld = random.next() < 0.3;
    const corner = (x: number, y: number): number => b.vertex(put(x, y, 0), put(x, y, 0), isHeld);
    const [p, q, r] = [corner(0, 0), corner(4, -2), corner(4, 2)];
    b.triangle(p, q, r);
    const end = [6, 3, 2][k % 3];
    const above = random.next() < 0.3 ? 2 ** -12 : 0;
    b.segment(p, b.vertex(put(end, 0, above), put(end + random.between(-2, 2), random.between(-3, 3), lift)));
    b.particle(put(3, 0.5, 3), put(3, 0.5, random.between(-6, 2)));
  }
  return { ...b.build(), isJittered: false, isExact: true };
}
