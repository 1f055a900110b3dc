import type { ResolveRequest } from '../../src/contract/requests.js';
import type { FidelityScene } from '../fidelity/scenes.js';
import { Builder, type Point } from '../prove/scenes/builder.js';
import { Random } from '../prove/scenes/random.js';

/*
 * Requests with targets that cannot be reached, or with elements so dense that every step is expensive: tests of an end
 * rule and a pair budget. They are made from fixed seeds.
 */

const EDGE = 0.01;

/** A square sheet of n² vertices around the z axis. */
function sheet(b: Builder, n: number, z: number, aim: (at: Point) => Point): void {
  const side = (n - 1) * EDGE;
  const place = (u: number, v: number): Point => [side * (u - 0.5), side * (v - 0.5), z];
  b.sheet(n - 1, n - 1, place, (u, v) => aim(place(u, v)));
}

const scaled = ([x, y, z]: Point, by: number): Point => [by * x, by * y, by * z];

function requestFrom(b: Builder): ResolveRequest {
  const { mesh, start, target } = b.build();
  return { mesh, start, target, parameters: {} };
}

/** 2,401 vertices of a sheet, whose targets are drawn at random from a cube of a quarter of its side. */
function crumpled(): ResolveRequest {
  const random = new Random(11);
  const b = new Builder();
  const draw = () => random.between(-6 * EDGE, 6 * EDGE);
  sheet(b, 49, 0, () => [draw(), draw(), draw()]);
  return requestFrom(b);
}

/** 1,681 vertices of a sheet, all with the same point as their target. */
function collapsing(): ResolveRequest {
  const b = new Builder();
  sheet(b, 41, 0, () => [0, 0, 0]);
  return requestFrom(b);
}

/** A sphere of 762 vertices, each with the opposite point as its target. */
function insideOut(): ResolveRequest {
  const b = new Builder();
  const radius = (40 * EDGE) / (2 * Math.PI);
  b.sphere(
    20,
    40,
    (d) => scaled(d, radius),
    (d) => scaled(d, -radius),
  );
  return requestFrom(b);
}

/** 20 sheets of 441 vertices with gaps of 1e-6, every vertex with a target within an edge of it. */
function pressed(): ResolveRequest {
  const random = new Random(11);
  const b = new Builder();
  const draw = () => random.between(-EDGE, EDGE);
  for (let k = 0; k < 20; k++) sheet(b, 21, 1e-6 * k, ([x, y, z]) => [x + draw(), y + draw(), z + draw()]);
  return requestFrom(b);
}

/**
 * Ten closed surfaces of 3,845 vertices, one inside the other, with slivers at their poles, that swell through each
 * other.
 */
function nested(): ResolveRequest {
  const b = new Builder();
  for (let k = 0; k < 10; k++) {
    const radius = 0.1 + 0.004 * k;
    const swollen = ([x, y, z]: Point) => 1 + 0.1 * Math.sin(2 * k + 5 * x) * Math.cos(3 * k + 4 * y - 3 * z);
    b.sphere(
      62,
      63,
      (d) => scaled(d, radius),
      (d) => scaled(d, radius * swollen(d)),
    );
  }
  return requestFrom(b);
}

const generated = (name: string, make: () => ResolveRequest): FidelityScene => ({
  name,
  files: [],
  make: async () => make(),
});

/** Inexpensive ones first. */
export const SLOW_SCENES: readonly FidelityScene[] = [
  generated('inside-out', insideOut),
  generated('crumpled', crumpled),
  generated('collapsing', collapsing),
  generated('pressed', pressed),
  generated('nested', nested),
];
