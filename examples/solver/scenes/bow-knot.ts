import type { Body, Vec } from '../src/bodies.js';
import { alongRope, bightTo, ease, FLARE, heightAt, RISE, ROPE, SILK } from './rope.js';
import { bySize, resample, sweep } from './shapes.js';
import type { Loop, MakeScene } from './types.js';

/** m: half the distance of the two legs of a rope, and of its bight */
const LEGS = 0.024;
const BIGHT = 0.09;
/** m: distance between a rope and its own tail, which lies beside it through the knot */
const BESIDE = 0.018;
/** m: x of the held end; beginning, length and width of the loop */
const REACH = 0.4;
const NECK = 0.16;
const LOOP = { length: 0.25, width: 0.24 };
/**
 * m, rad: x at which the tail leaves the knot, its length from there, the radius of its bend upwards, and its final
 * slope
 */
const TAIL = { from: FLARE - 0.01, length: 0.17, bend: 0.025, slope: Math.PI / 3 };
/** m/s and s of the pull at the held ends and at the tips of the loops */
const PULL = 0.06;
const PULLING = 1.8;

/** m: half the width of a bight at x */
const width = (x: number): number => LEGS + (BIGHT - LEGS) * ease(x / FLARE);

/** Points of a strand between two values of x, on the side y < 0 or y > 0. */
const strand = (from: number, to: number, side: 1 | -1): Vec[] =>
  Array.from({ length: 121 }, (_, i): Vec => {
    const x = from + ((to - from) * i) / 120;
    return [x, side * width(x), heightAt(x)];
  });

/** A line to the left, as seen from above, of one that runs in the direction of greater x. */
const beside = (line: readonly Vec[]): Vec[] =>
  line.map(([x, y], i): Vec => {
    const [from, to] = [line[Math.max(i - 1, 0)]!, line[Math.min(i + 1, line.length - 1)]!];
    const [u, v] = [to[0] - from[0], to[1] - from[1]];
    const scale = BESIDE / Math.hypot(u, v);
    const left = x - v * scale;
    return [left, y + u * scale, heightAt(left)];
  });

/**
 * The parts of the centre line of the rope whose held leg and loop lie at x < 0. A bow is a reef knot whose two free
 * ends are turned back: from the held end the rope makes the bight of a reef knot (see `reef-knot`), continues to the
 * loop, and returns beside itself through the bight of the other rope, which is the first one rotated by half a turn
 * about the y axis.
 */
function centreLine(): { toTip: Vec[]; fromTip: Vec[] } {
  const returning = beside(strand(-NECK, TAIL.from, -1));
  const leaves: Vec = [-NECK, -width(-NECK), RISE];
  const returns = returning[0]!;
  const aside = leaves[1] - LOOP.width;
  const loop = Array.from({ length: 99 }, (_, i): Vec => {
    const t = (i + 1) / 100;
    const s = 1 - t;
    const near = 5 * t * s ** 4 + 5 * s * t ** 4;
    const far = 10 * t ** 2 * s ** 3 + 10 * s ** 2 * t ** 3;
    const y =
      (s ** 5 + 5 * t * s ** 4) * leaves[1] +
      10 * t ** 2 * s ** 3 * aside +
      (10 * s ** 2 * t ** 3 + 5 * s * t ** 4 + t ** 5) * returns[1];
    return [-NECK - (near / 2 + 1.2 * far) * LOOP.length, y, RISE];
  });
  const [leave, inward, above] = returning.at(-1)!;
  const tail = Array.from({ length: 60 }, (_, i): Vec => {
    const s = (TAIL.length * (i + 1)) / 60;
    const angle = Math.min(TAIL.slope, s / TAIL.bend);
    const straight = s - TAIL.bend * angle;
    return [
      leave + TAIL.bend * Math.sin(angle) + straight * Math.cos(angle),
      inward,
      above + TAIL.bend * (1 - Math.cos(angle)) + straight * Math.sin(angle),
    ];
  });
  const half = Math.floor(loop.length / 2);
  return {
    toTip: [...strand(-REACH, FLARE, 1), ...bightTo(BIGHT), ...strand(FLARE, -NECK, -1), ...loop.slice(0, half)],
    fromTip: [...loop.slice(half), ...returning, ...tail],
  };
}

/** Two ropes, each with a loop, are pulled into a bow at their held ends and at their loops (Fig. 1, above). */
export const bowKnot: MakeScene = (size) => {
  const around = bySize(size, { small: 6, quarter: 15, full: 30 });
  const { toTip, fromTip } = centreLine();
  const spacing = (2 * Math.PI * ROPE) / around;
  // `sweep` spaces its rings in the same way: the tip of the loop comes after as many of them as the line to it has.
  const tip = resample(toTip, spacing).length - 1;
  const rope = (side: 1 | -1): Body => ({
    name: side === 1 ? 'left rope' : 'right rope',
    geometry: sweep(
      [...toTip, ...fromTip].map(([x, y, z]): Vec => [side * x, y, side * z]),
      ROPE,
      around,
    ),
    material: SILK,
    pins: [...Array(around).keys()].flatMap((k) => [k, tip * around + k]),
    motion: ([x, y, z], time) => [x - side * PULL * Math.min(time, PULLING), y, z],
  });
  const ropes = [rope(1), rope(-1)];
  const rings = ropes[0]!.geometry.positions.length / (3 * around);
  // Each rope is two loops, from its held end to the tip of its loop, and from there to its tail: as one loop, its loop
  // of rope, which runs out and back beside itself, would hold nothing.
  const loops = ([1, -1] as const).flatMap((side, i): Loop[] => {
    const first = i * rings * around;
    return [
      [{ line: alongRope(first, around, 0, tip), from: [-side, 0.3, 0], to: [-side, -0.3, 0] }],
      [{ line: alongRope(first, around, tip + 1, rings - 1), from: [-side, -0.5, 0.2 * side], to: [0, 0.1, side] }],
    ];
  });
  return {
    name: 'bow-knot',
    sentence: 'Two ropes with loops are pulled together to a bow.',
    paper: {
      name: 'Bow knot (Fig. 1a)',
      size: '71K, 142K',
      averageSteps: 5.4,
      maximumSteps: 17,
      averageCost: 0.034,
      maximumCost: 0.113,
    },
    timeStep: 1 / 100,
    frames: 220,
    gravity: [0, 0, 0],
    friction: { static: 0.3, kinetic: 0.3 },
    // As stiff as the ropes, see `reef-knot`.
    repulsionStiffness: 1e7,
    // Less than half the gap between a rope and its tail.
    parameters: { activationDistance: 0.001 },
    bodies: ropes,
    loops,
    view: [-0.2, 0.6, -1],
  };
};
