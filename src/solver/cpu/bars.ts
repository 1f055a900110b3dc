/** Bar bits of a vertex; an element has a bit iff all its vertices do, and a pair with a bit in common is left out. */
export const PASSIVE = 1;
/** The vertex keeps its box: pairs of two such elements are in P already. */
export const KEPT = 2;
