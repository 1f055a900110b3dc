import type { Body, Vec } from '../src/bodies.js';
import { alongRope, bightTo, ease, FLARE, heightAt, ROPE, SILK } from './rope.js';
import { bySize, sweep } from './shapes.js';
import type { MakeScene, Strand } from './types.js';

/** m: half the distance of the two legs of a rope, and of its bight */
const LEGS = 0.016;
const BIGHT = 0.045;
/** m: x of the ends */
const REACH = 0.4;
/** m/s and s of the pull at the four ends, after which each bight lies close around the legs of the other rope */
const PULL = 0.06;
const PULLING = 1.1;

/**
 * The centre line of the rope whose legs lie at x < 0 and whose bight lies at x > 0. It passes above the other rope,
 * which is its mirror image in x and z, at the two ends of the knot, and below it in the middle, where both widen: so
 * each bight goes around both legs of the other rope.
 */
function centreLine(): Vec[] {
  const width = (x: number): number => LEGS + (BIGHT - LEGS) * ease(x / (0.6 * FLARE));
  const leg: Vec[] = [];
  for (let i = 0; i <= 240; i++) {
    const x = -REACH + ((REACH + FLARE) * i) / 240;
    leg.push([x, width(x), heightAt(x)]);
  }
  const back = leg.map(([x, y, z]): Vec => [x, -y, z]).reverse();
  return [...leg, ...bightTo(BIGHT), ...back];
}

/** Two ropes are pulled into a reef knot (Fig. 1, below). */
export const reefKnot: MakeScene = (size) => {
  const around = bySize(size, { small: 6, quarter: 12, full: 24 });
  const line = centreLine();
  const rope = (side: 1 | -1): Body => {
    const geometry = sweep(
      line.map(([x, y, z]): Vec => [side * x, side * y, side * z]),
      ROPE,
      around,
    );
    const count = geometry.positions.length / 3;
    return {
      name: side === 1 ? 'left rope' : 'right rope',
      geometry,
      material: SILK,
      pins: [...Array(around).keys()].flatMap((k) => [k, count - 1 - k]),
      motion: ([x, y, z], time) => [x - side * PULL * Math.min(time, PULLING), y, z],
    };
  };
  const ropes = [rope(1), rope(-1)];
  const count = ropes[0]!.geometry.positions.length / 3;
  const strands = ([1, -1] as const).map(
    (side, i): Strand => ({
      line: alongRope(i * count, around, 0, count / around - 1),
      from: [-side, side * 0.3, 0],
      to: [-side, -side * 0.3, 0],
    }),
  );
  return {
    name: 'reef-knot',
    sentence: 'Two ropes are pulled together to a reef knot.',
    paper: {
      name: 'Reef knot (Fig. 1e)',
      size: '37K, 71K',
      averageSteps: 7,
      maximumSteps: 23,
      averageCost: 0.024,
      maximumCost: 0.097,
    },
    timeStep: 1 / 100,
    frames: 160,
    gravity: [0, 0, 0],
    friction: { static: 0.3, kinetic: 0.3 },
    // As stiff, for a pair of vertices, as the ropes that press them together: a softer one lets targets sink in by
    // whole radii.
    repulsionStiffness: 1e7,
    bodies: ropes,
    // If each were closed on its own side, the two would be unlinked; joined with each other they form the square knot.
    loops: [strands],
    view: [-0.2, 0.6, -1],
  };
};
