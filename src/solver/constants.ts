/**
 * The numbers that every engine uses, each defined once, so that the engines cannot diverge. The CPU engine imports
 * them; the WGSL of the other engines receives them under the same names when a shader is assembled. Lengths are in
 * engine units (frame.ts), where the median edge is about 1.
 */

// Rounding

/**
 * u of every error bound. A float32 operation that rounds to nearest has a relative error of at most 2⁻²⁴; WGSL lets an
 * implementation round either way, hence 2⁻²³ on every engine.
 */
export const UNIT_ROUNDOFF = 2 ** -23;

/** e of a signed height n·(x − o), over Σ_c |n_c d_c|: twice the error of the height (cpu/certificate.ts derives it). */
export const ERROR_FACTOR = 8 * UNIT_ROUNDOFF;

/**
 * The part of e that covers underflow, where errors are no share of a result. A device may replace any number below 2⁻¹²⁶ by
 * 0: both coordinates and the difference, times |n_c|, on three axes, three products and two sums. That is less than
 * (3√3 + 5)·2⁻¹²⁶ for a unit n, and twice this is less than 2⁻¹²⁰.
 */
export const UNDERFLOW_ERROR = 2 ** -120;

/**
 * Σ_c |n_c d_c| of a pair, engine units, beyond which its heights are computed more exactly than in float32: e, 2⁻²⁰ of
 * it, would be 2⁻¹¹ or more, half of the floor δ/100 of an edge of one unit at the default δ of a tenth of an edge, and
 * only gaps above 2e are certificates. Pairs of elements shorter than hundreds of edges never reach this.
 */
export const LONG_SPREAD = 512;

/**
 * A vertex within this many u·X of its target, X the largest coordinate of the start, has arrived: its residual is 0.
 */
export const ARRIVAL_ROUNDING = 4;

/**
 * Share of the α that leads to the face of a trust box: keeps x' inside under any rounding of the quotient and the
 * products. The sum x + αm rounds by u of x, which may be more: a vertex that is written outside its box returns to x.
 */
export const FACE_SHARE = Math.fround(0.99999);

// Search

/** Elements in a leaf of a bounding volume hierarchy. */
export const LEAF_SIZE = 8;

/** Bits of a vertex's or an element's mask: a pair whose elements have a bit in common is not searched for. */
/** PASSIVE: the element is kinematic, and pairs of such elements are skipped or cannot close. */
export const PASSIVE = 1;
/** KEPT: the element keeps its box, so that pairs of such elements are in P already. */
export const KEPT = 2;

/**
 * A search renews single boxes for up to this share of the vertices; for more, a search of everything costs as little.
 */
export const PARTIAL_SHARE = 0.3;

/**
 * A request that reuses P begins with a search for new boxes of the vertices whose boxes grant less than this share of their
 * motion, as far as a leap goes. Such a vertex would stop at a face that lies ρ beyond its last target while its neighbours
 * arrive, and a strand that is bent so passes others on the wrong side. What a larger share is granted is stopped so little
 * that the next step catches up; a share of 1 would renew boxes for motions that grow by a hair.
 */
export const GRANTED_SHARE = 0.8;

// Geometry and contacts

/** The direction of the closest points serves as normal while its gap is at least this share of their distance. */
export const TRUSTED_SHARE = 0.9;

/** A pair whose last normal shows a gap above this multiple of δ is no contact; its geometry is not computed. */
export const STALE_GAP = 1.5;

/**
 * δ_p is at most this multiple of the pair's distance at the start, so that compressed pairs recover over several
 * requests.
 */
export const RECOVERY = 1.1;

/** δ_p is at least this share of δ. */
export const MIN_DELTA_SHARE = 0.25;

/** A vertex has at most this many contacts, the nearest ones: this bounds the colours and does not affect safety. */
export const CONTACTS_PER_VERTEX = 24;

/**
 * A contact whose movable vertices all have a smaller closest-point weight than this is left to the forward step: a
 * projection moves a vertex by up to the violation divided by its weight. Only elements with both kinematic and movable
 * vertices have such contacts, as at the border of what a gripper holds. Where it holds several layers close to each
 * other, nothing else than these movable vertices can make room for the kinematic ones.
 */
export const MIN_MOVABLE_WEIGHT = 0.01;

/** Volume form: edges at a smaller sine than this rotate instead of separating; the gap form is used. */
export const MIN_SINE = 0.15;

/** Volume form: a triangle whose doubled area is below this share of its longer side squared uses the gap form. */
export const MIN_AREA_SHARE = 1e-6;

/** Sweeps of a step between two checks whether the caller wants to stop. */
export const SWEEPS_PER_STOP_CHECK = 16;

// Progress

/** A vertex that a pair holds to a smaller α than this … */
export const STUCK_SHARE = 0.01;

/** … for this many consecutive steps is stuck, and may slide. */
export const STUCK_STEPS = 4;

/** α of at least this share of the guard's α means that the trust box, not a contact, stopped the vertex. */
export const GUARD_SHARE = 0.999;

/** A relevant vertex that its box stops for this many consecutive steps requests a search alone. */
export const STOPPED_STEPS = 4;

/** This share of the relevant vertices, stopped by their boxes, requests a search. */
export const STOPPED_SHARE = 0.1;

/** Steps in a window over which stagnation is judged. */
export const WINDOW = 32;

/**
 * A run progresses if Σr of the unfinished vertices falls by this share in a window: at least thousands of steps
 * remain.
 */
export const FALLEN_SHARE = 0.01;

/**
 * A run progresses if an unfinished vertex travels this many δ in a window, δ/4 a step; a vertex with nothing in its way
 * makes over 1.5 δ a step.
 */
export const TRAVEL = WINDOW / 4;

// Pull-back

/**
 * Algorithm 1 leaves this share of the step limit to the pull-back, at most this many steps (step-shares.ts). Most
 * pull-backs end within fifty steps.
 */
export const RESERVED_SHARE = 0.25;
export const MOST_RESERVED_STEPS = 128;

/**
 * The steps of the pull-back towards y* leave this share of the step limit to its last steps, which shorten edges, at
 * most this many.
 */
export const SHORTENING_SHARE = 1 / 16;
export const MOST_SHORTENING_STEPS = 32;

/**
 * Targets are scattered if the motions of both ends differ by this many leaps (three median edges by default) on more
 * than this share of the edges. The pull-back then follows a complete run of Algorithm 1 (scattered-targets.ts). A fold
 * or a mesh that is turned inside out stays below, at two edges.
 */
export const SCATTERED_LEAPS = 1.5;
export const SCATTERED_SHARE = 0.5;

/** The longest motion of a step for scattered targets, over δ: contacts leave room for about one δ on either side. */
export const SCATTERED_MOTION = 2;

/**
 * The factor on the required gain for scattered targets on a mesh of at least SCATTERED_VERTICES vertices: by default
 * the phase ends when three steps in a row gain less than 8.4 %. Steps of smaller meshes cost less in proportion, and so
 * does the factor, down to 1.
 */
export const SCATTERED_MIN_GAIN = 6;
export const SCATTERED_VERTICES = 2000;

/**
 * The most pieces in which the forward step of the pull-back moves towards the y of its sweeps, each with new planes. The
 * plane of a pair lets two elements in contact turn about each other by little more than their gap over their length, and
 * the vertices that it stops hold back the taut edges around them. A piece costs less than the sweeps, except in a
 * heap (mostPiecesOf in cpu/poor-steps.ts).
 */
export const PULL_BACK_PIECES = 4;

/** A vertex that no row has pushed for this many steps aims at its full target (t = 1). */
export const FREE_STEPS = 8;

/** A push shorter than this share of δ does not count as one. */
export const PUSHED = 1e-3;

/** Shares of the multipliers of the last step that a step begins with. */
export const WARM_EDGES = 0.95;
export const WARM_CONTACTS = 0.9;

/** A motion shorter than this share of δ is not made. */
export const REST = 0.02;

/** Share of the motions that trust boxes may take from a step before a search gives new boxes first. */
export const BOX_LOSS = 0.2;

/**
 * ρ of the phase over δ: its vertices move back and forth near their places, and shorter lists outweigh more partial
 * searches.
 */
export const PULL_BACK_REACH = 0.8;

/**
 * A contact of the pull-back aims at most this share of δ above its distance at the start of the request. δ is a tenth
 * of an edge by default, so a start with tiny gaps moves by 1.25 % of an edge and reaches the default offset, δ/8, in
 * the first request. Otherwise the frames of a session would end farther and farther from their targets while their
 * contacts are brought back. The share must exceed REST, or pairs that lack a little would never reach their offset.
 */
export const AIM_GROWTH = 0.125;

/**
 * A pair of the pull-back is a contact from this share of δ above its contact offset on, and always within δ: a pair that
 * becomes a contact only near its offset is pressed below it in the step before. At most STALE_GAP − 1, because an offset
 * is at most δ. With a share of 0, grains whose offset is δ pressed each other far below it, and then no step gained
 * anything: the whole heap stayed where it was, with all that fell onto it.
 */
export const CONTACT_LEAD = 0.5;

/**
 * Weight of a vertex's contact shortfall relative to its distance to the target: the number of layers that a pile may
 * have (cpu/merit.ts).
 */
export const SHORTFALL_WEIGHT = 8;

/** A contact that is not open counts as a shortfall of the vertices with at least this closest-point weight. */
export const MIN_SHORTFALL_WEIGHT = 0.05;

/** Weight of the squared excess over an edge's limit relative to the squared distance to the target. */
export const EXCESS_WEIGHT = 1000;

/** This many poor steps (cpu/poor-steps.ts) in a row end the phase. */
export const MAX_POOR_STEPS = 3;

/** The least gain of a step in a heap, multiplied by its cost relative to a cheap step. */
export const HEAP_MIN_GAIN = 0.01;

/**
 * A step is not poor if a vertex whose motion the leap limits comes nearer to its target by this share of the leap,
 * because a single moving vertex changes the merit of a large mesh very little. Vertices that only creep towards
 * distant targets do not reach this share.
 */
export const LEAP_PROGRESS = 0.1;

/**
 * A step is *jammed* if at least this share of the vertices that it wanted to move were granted less than JAMMED_ALPHA of
 * what was left of their motion in its last piece: nearly all of them, as where bodies in closed contact are on their way
 * to distant targets. In a scene that ends near its target fewer are, because what is not in contact arrives.
 */
export const JAMMED_SHARE = 0.9;
export const JAMMED_ALPHA = Math.fround(0.05);

/**
 * The contacts of a step are *closed* if at least this share of the vertices that it wanted to move were granted less than
 * JAMMED_ALPHA in its last piece. After a poor step with closed contacts, a step has one piece if P has more than the
 * comfortable number of pairs over CLOSED_CHEAPER. With fewer pairs pieces cost little, and cloth that hangs on a few contacts
 * gains by them again. While sheets turn about each other, few vertices are left to move in the last piece, whatever the
 * number of pairs.
 */
export const CLOSED_SHARE = 0.5;
export const CLOSED_CHEAPER = 4;

/** This many poor steps in a row in which a trust box holds a vertex end the phase as STALLED. */
export const MAX_HELD_STEPS = 8;

/** The last steps, which only shorten edges: number of sweeps, and the share of δ below which a motion is not made. */
export const SHORTENING_SWEEPS = 64;
export const SHORTENING_REST = 0.002;

/**
 * The last steps continue while each removes at least this share of the excess over the limits. In a heap
 * (cpu/poor-steps.ts), where steps are expensive, the larger share applies. A sheet that contracts by a third obstructs
 * itself: the planes between its elements grant a tenth of a motion, so a step removes a tenth of the excess at first,
 * and most of it in the end.
 */
export const MIN_SHORTENING_GAIN = 0.02;
export const HEAP_SHORTENING_GAIN = 0.1;

/**
 * This many of the last steps in a row that remove less end them. A single one does not, because the planes of contacts
 * change from step to step.
 */
export const MAX_POOR_SHORTENINGS = 2;

/** The same number if trust boxes hold vertices, which then get new boxes. */
export const MAX_HELD_SHORTENINGS = 8;

/**
 * The last steps shorten edge limits by this share of δ, twice SHORTENING_REST, so that no edge stays just above its
 * limit.
 */
export const SHORTENING_SLACK = 2 * SHORTENING_REST;

/**
 * After a poor step in which edges over their limits are a larger part of the merit than the required gain, the sweeps
 * of later steps continue in rounds until this part is at most this share of the merit. The steps that only shorten
 * edges continue until no edge is over its limit.
 */
export const SWEPT_EXCESS = 0.01;

/**
 * The most rounds of sweeps in a step, and the number of rounds after which they end unless the excess has fallen to
 * this share of its least value before them.
 */
export const MORE_SWEEPS = { rounds: 32, patience: 4, fallenTo: 0.9 } as const;

/**
 * The last steps may give way to steps towards y* again this many times (cpu/poor-steps.ts). Few requests need more than
 * one.
 */
export const MOST_RESUMPTIONS = 4;

/**
 * A mesh is *on its way* while the mean distance of its vertices to their targets (root of the mean square, by mass) is more
 * than this many leaps (cpu/poor-steps.ts). Where only parts are as far away, as cloth that hangs on a spike, something holds
 * these parts.
 */
export const ON_ITS_WAY = 1.5;

/** On its way, a mesh must come nearer by this share of δ in a step, in the mean, for the step not to be poor. */
export const LEAST_PROGRESS = 0.05;

/** One sweep in this many visits all rows; the sweeps between visit only the rows that act. */
export const COMPLETE_EVERY = 8;

/** Bound on the momentum β; Nesterov's k/(k + 3) up to there. */
export const MAX_MOMENTUM = 0.9;

/**
 * The same in further rounds of sweeps over strain limits, which take place because pulls have to cross the mesh. The best
 * constant β of a chain of n elements that hangs from one end is about 1 − π/(2n), since the square root of its condition
 * number is 4n/π; 0.98 is that of 80 elements.
 */
export const MAX_STRAIN_MOMENTUM = 0.98;

/** An edge longer than this share of its limit takes part in every sweep; all others only in complete sweeps. */
export const NEAR_LIMIT = 0.95;

/** Passes over the edges in which a step may be shortened; edges that are still too long are left to the next step. */
export const HOLD_BACK_PASSES = 20;

// Strain limits

/** A strain below this share of the length at rest: the element has no rotation of its own. */
export const FLATTEST_STRAIN = 1e-3;

/**
 * The sweeps of a step towards y* continue (MORE_SWEEPS) while a strain exceeds its limits by more than this; those of
 * the last steps while any strain exceeds them.
 */
export const SWEPT_STRAIN = 5e-3;

/** The strain that an element may get in a piece of a step because one of its corners is held. */
export const HELD_STRAIN = 0.05;

/** The last steps narrow the range of strains by at most this share of it, at either end. */
export const MAX_STRAIN_SLACK = 0.125;

// Report

/** A report names the pairs that limit at most this many vertices, those with the largest residuals. */
export const LIMITING_PAIRS = 8;
