/**
 * Parameters of the method that its paper leaves to the user, and margins that it needs only in floating-point
 * arithmetic.
 */

/**
 * N of Table 1: the largest number of searches for colliding pairs, each followed by a Newton solve. The paper has 3,
 * and then a smaller step.
 */
export const MOST_ROUNDS = 10;

/** A piece is abandoned early if the number of colliding pairs has not halved in this many rounds. */
export const PATIENCE = 3;

/** M of Table 1: Newton iterations with fixed pairs. The paper has 5, each of which it damps by γ = 0.3. */
export const NEWTON_ITERATIONS = 3;

/**
 * γ of Table 1. 1 is Newton's method. Corrections are limited to the motion of a zone (newton.ts), and a piece that
 * does not succeed is halved, which has the same purpose as damping: in each scene of test/solver/cases.ts with
 * collisions, γ = 0.3 with M = 5 took as many rounds or more, up to ten times as many, and succeeded in none in which γ
 * = 1 does not.
 */
export const RELAXATION = 1;

/**
 * Share of the diagonal that is added to it. Tetrahedra that share vertices have nearly dependent volumes: without it,
 * contradictory goals would lead to unbounded pressures. Newton's iterations compensate for its effect.
 */
export const REGULARISATION = 1e-3;

/**
 * The residual, as a share of the right-hand side, at which conjugate gradients stop; a Newton step is no more
 * accurate.
 */
export const SOLVER_TOLERANCE = 1e-2;

/** Largest number of conjugate gradient iterations in one Newton iteration. */
export const MOST_SOLVER_ITERATIONS = 60;

/** A zone's correction is at most this many times the longest way of its vertices. */
export const MOST_CORRECTION = 2;

/** The shortest piece of the motion; if even this fails, the resolve ends. */
export const SHORTEST_PIECE = 2 ** -8;

/**
 * Colliding pairs per contact vertex above which a piece is halved at once. If layers slide through many others, each
 * vertex collides with everything that its way has crossed, and the volumes of all those tetrahedra cannot all be
 * preserved.
 */
export const MOST_PAIRS_PER_VERTEX = 12;

/** Meshes with few vertices may have this many colliding pairs. */
export const ALWAYS_ALLOWED_PAIRS = 256;

/** A goal is raised by at most this many floors, about δ if the floor is δ/100. */
export const MOST_RAISE = 64;

/**
 * A pair whose volume falls short of its goal by at most this share of it, and which still collides, needs a higher
 * goal.
 */
export const REACHED_SHARE = 0.25;
