/**
 * Bar bits of a vertex. An element has a bit iff all its vertices do (less PASSIVE at the border of a kinematic region,
 * kinematic-border.ts), and a pair with a bit in common is excluded.
 */
export const PASSIVE = 1;
/** The vertex keeps its box: pairs of two such elements are in P already. */
export const KEPT = 2;
