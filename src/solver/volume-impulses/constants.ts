/** Parameters of the method that its paper leaves to the user, and the margins that it does not need on paper. */

/** N of Table 1, at most: searches for colliding pairs, each followed by a Newton solve. The paper has 3, and a smaller step after that. */
export const MOST_ROUNDS = 10;

/** A piece is given up early if the number of colliding pairs has not halved in as many rounds. */
export const PATIENCE = 3;

/** M of Table 1: Newton iterations with fixed pairs. The paper has 5, each of which it takes by γ = 0.3. */
export const NEWTON_ITERATIONS = 3;

/**
 * γ of Table 1. 1 is Newton's method. Corrections are limited to what a zone moves (newton.ts), and a piece that does not come
 * to an end is halved, which does what damping is for: γ = 0.3 with M = 5 took as many rounds or more in each scene of
 * test/solver/cases.ts that collides, up to ten times as many, and ended none that γ = 1 does not.
 */
export const RELAXATION = 1;

/**
 * Share of the diagonal that is added to it. Tetrahedra that share vertices have nearly dependent volumes: without it, goals that
 * contradict each other would be met by pressures without bound. Newton's iterations make up for what it takes.
 */
export const REGULARISATION = 1e-3;

/** The residual, as a share of the right-hand side, at which conjugate gradients stop; a Newton step is not more exact. */
export const SOLVER_TOLERANCE = 1e-2;

/** Conjugate gradient iterations of one Newton iteration, at most. */
export const MOST_SOLVER_ITERATIONS = 60;

/** A zone's correction is at most so many times the longest way of its vertices. */
export const MOST_CORRECTION = 2;

/** The shortest piece of the motion; where even this fails, the resolve ends. */
export const SHORTEST_PIECE = 2 ** -8;

/**
 * Colliding pairs per contact vertex above which a piece is halved at once. Where layers slide through many others, each vertex
 * collides with whatever its way has crossed, and the volumes of all those tetrahedra cannot all be kept.
 */
export const MOST_PAIRS_PER_VERTEX = 12;

/** Meshes with few vertices may have this many colliding pairs. */
export const ALWAYS_ALLOWED_PAIRS = 256;

/** A goal is raised by so many floors at most, about δ where the floor is δ/100. */
export const MOST_RAISE = 64;

/** A pair whose volume lacks no more than this share of its goal, and which still collides, needs a higher goal. */
export const REACHED_SHARE = 0.25;
