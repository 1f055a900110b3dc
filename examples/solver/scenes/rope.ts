import type { Cloth, Vec } from '../src/bodies.js';

/** Material of the knotted tubes. */
export const SILK: Cloth = { kind: 'cloth', density: 0.3, stretching: 1500, poisson: 0.3, bending: 1e-4 };

/** 0 below −1, 1 above 1, smooth between. */
export const ease = (t: number): number => {
  const s = Math.min(1, Math.max(0, (t + 1) / 2));
  return s * s * (3 - 2 * s);
};

/** m: radius of a rope */
export const ROPE = 0.008;
/** m: where the bights of a knot begin, and the distance at which its ropes pass each other */
export const FLARE = 0.06;
export const RISE = 0.014;

/** m: height of a strand at x: above the other rope outside the middle of the knot, below it inside. */
export const heightAt = (x: number): number => RISE * (2 * ease((Math.abs(x) - 0.5 * FLARE) / (0.35 * FLARE)) - 1);

/** Vertices along a swept rope, the first of every ring, from one ring to another. @param first vertex of the rope */
export const alongRope = (first: number, around: number, fromRing: number, toRing: number): number[] =>
  Array.from({ length: toRing - fromRing + 1 }, (_, i) => first + (fromRing + i) * around);

/** The bend of a rope around the legs of the other one, from one side to the other. @param width m, half of it */
export const bightTo = (width: number): Vec[] =>
  Array.from({ length: 47 }, (_, i): Vec => {
    const angle = Math.PI * (0.5 - (i + 1) / 48);
    const x = FLARE + width * Math.cos(angle);
    return [x, width * Math.sin(angle), heightAt(x)];
  });
