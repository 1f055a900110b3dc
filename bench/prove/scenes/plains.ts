import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

/**
 * A tilted ground plane of hundreds of metres at rest, cloth with edges of 17 mm that falls onto it, and kinematic
 * grains with targets below it; under PROTECT nothing pushes these aside. The plane's corners are tens of thousands of
 * edges away: float32 rounds them by more than the floor, and heights over the plane by far more.
 */
export function wideGround(random: Random): ProveScene {
  return ground(random, random.between(200, 500), (p) => p);
}

/**
 * The same over many kilometres, in float32 numbers. Sent in float32 around the origin the plane is not rounded at all; sent
 * in float64 it is rounded too much for the default tolerance.
 */
export function vastGround(random: Random): ProveScene {
  const f = Math.fround;
  const scene = ground(random, random.between(3000, 20_000), ([x, y, z]) => [f(x), f(y), f(z)]);
  return { ...scene, isJittered: false, isExact: true };
}

function ground(random: Random, half: number, round: (p: Point) => Point): ProveScene {
  const b = new Builder();
  const [tilt, yaw] = [random.between(0.1, 1.4), random.between(0, 6)];
  const place = ([u, v, w]: Point): Point => {
    const [y, z] = [v * Math.cos(tilt) - w * Math.sin(tilt), v * Math.sin(tilt) + w * Math.cos(tilt)];
    return round([u * Math.cos(yaw) - y * Math.sin(yaw), u * Math.sin(yaw) + y * Math.cos(yaw), z]);
  };
  // Its first half is under everything that falls.
  const corner = (u: number, v: number): number => b.vertex(place([u * half, (v + 0.4) * half, 0]), undefined, true);
  b.triangle(corner(-1, -1), corner(1, -1), corner(1, 1));
  // A fourth corner would be rounded out of the plane of the others, so the other half ends before the diagonal.
  b.triangle(corner(-1, 1), corner(-1, -0.95), corner(0.95, 1));
  const drop = random.between(0.01, 0.05);
  const at = (u: number, v: number): Point => [
    0.2 * (u - 0.5),
    0.2 * (v - 0.5),
    0.01 + 0.004 * Math.sin(9 * u + 7 * v),
  ];
  b.sheet(
    12,
    12,
    (u, v) => place(at(u, v)),
    (u, v) => place([at(u, v)[0], at(u, v)[1], at(u, v)[2] - drop]),
  );
  for (let k = 0; k < 80; k++) {
    const [u, v] = [0.3 + 0.02 * (k % 10), 0.02 * Math.floor(k / 10) - 0.08];
    const slide = random.between(-0.005, 0.005);
    b.particle(place([u, v, random.between(0.003, 0.006)]), place([u + slide, v, -random.between(0.002, 0.01)]), true);
  }
  return b.build();
}
