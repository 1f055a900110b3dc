/**
 * The numbers that every engine uses: one home for each, so that the engines cannot drift apart. The CPU engine imports
 * them; the WGSL of the other engines receives them under the same names when a shader is assembled. Lengths are in engine
 * units (frame.ts), where the median edge is about 1.
 */

// Rounding

/**
 * u of every error bound. A float32 operation that rounds to nearest errs by at most 2⁻²⁴ relative; WGSL lets an
 * implementation round either way, hence 2⁻²³ on every engine.
 */
export const UNIT_ROUNDOFF = 2 ** -23;

/** A signed height n·(x − o) errs by less than this times Σ_c |n_c d_c| (cpu/certificate.ts derives it). */
export const ERROR_FACTOR = 8 * UNIT_ROUNDOFF;

/**
 * Σ_c |n_c d_c| of a pair, engine units, beyond which its heights are computed more exactly than in float32: e, 2⁻²⁰ of it,
 * would be 2⁻¹¹, half of the floor at the default δ of a tenth of an edge. Pairs of elements that are shorter than hundreds
 * of edges never get there.
 */
export const LONG_SPREAD = 512;

/** A vertex within this many u·X of its target, X the largest coordinate of the start, has arrived: its residual is 0. */
export const ARRIVAL_ROUNDING = 4;

/** Share of the α that leads to the face of a trust box: keeps x' inside under any rounding of quotient, product and sum. */
export const FACE_SHARE = Math.fround(0.99999);

// Search

/** Elements in a leaf of a bounding volume hierarchy. */
export const LEAF_SIZE = 8;

/** Bits of a vertex's or an element's mask: a pair whose elements have a bit in common is not searched for. */
/** PASSIVE: the element is kinematic, and pairs of such elements are skipped or cannot close. */
export const PASSIVE = 1;
/** KEPT: the element keeps its box, so that pairs of such elements are in P already. */
export const KEPT = 2;

/** A search renews single boxes for up to this share of the vertices; for more, a search of everything costs as little. */
export const PARTIAL_SHARE = 0.3;

// Geometry and contacts

/** The direction of the closest points serves as normal while its gap is at least this share of their distance. */
export const TRUSTED_SHARE = 0.9;

/** A pair whose last normal shows a gap above this multiple of δ is no contact; its geometry is not computed. */
export const STALE_GAP = 1.5;

/** δ_p is at most this multiple of the pair's distance at the start, so that compressed pairs recover over several requests. */
export const RECOVERY = 1.1;

/** δ_p is at least this share of δ. */
export const MIN_DELTA_SHARE = 0.25;

/** A vertex has at most this many contacts, the nearest ones: this bounds the colours and does not affect safety. */
export const CONTACTS_PER_VERTEX = 24;

/**
 * A contact whose movable vertices all have a smaller closest-point weight than this is left to the forward step: a
 * projection would move a vertex by the violation divided by its weight, many times too far.
 */
export const MIN_MOVABLE_WEIGHT = 0.05;

/** Volume form: edges at a smaller sine than this rotate instead of separating; the gap form is used. */
export const MIN_SINE = 0.15;

/** Volume form: a triangle whose doubled area is below this share of its longer side squared uses the gap form. */
export const MIN_AREA_SHARE = 1e-6;

/** Sweeps of a step between two looks at whether the caller wants to stop. */
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

/** A run progresses if Σr of the unfinished vertices falls by this share in a window: at least thousands of steps remain. */
export const FALLEN_SHARE = 0.01;

/** A run progresses if an unfinished vertex travels this many δ in a window, δ/4 a step; free flight makes over 1.5 δ a step. */
export const TRAVEL = WINDOW / 4;

// Pull-back

/**
 * Targets are scattered where the motions of the ends of more than this share of the edges differ by so many leaps (three median
 * edges by default): the pull-back follows Algorithm 1 (scattered-targets.ts). A fold or a mesh that is turned inside out stays
 * below, at two edges.
 */
export const SCATTERED_LEAPS = 1.5;
export const SCATTERED_SHARE = 0.5;

/** The longest motion of its steps then, over δ: contacts leave room for about a δ, on either side. */
export const SCATTERED_MOTION = 2;

/** And the factor on the gain that its steps must make: by default it ends where three in a row gain less than 4.2 %. */
export const SCATTERED_MIN_GAIN = 6;

/** A vertex that no row has pushed for this many steps goes for its whole target. */
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

/** ρ of the phase over δ: its vertices go to and fro near where they are, and shorter lists pay for more searches of a part. */
export const PULL_BACK_REACH = 0.8;

/**
 * A contact of the pull-back aims at most this share of δ above its distance at the start of the request. δ is a tenth of an edge
 * by default: a start with tiny gaps moves by 1.25 % of an edge, and is at the default offset, δ/8, in the first request, so that the frames
 * of a session do not come to lie farther from their targets as their contacts are brought back. More than the rest, or pairs that a little
 * is missing from would never be made up for.
 */
export const AIM_GROWTH = 0.125;

/** Weight of a vertex's contact shortfall against its distance to the target: as many layers as a pile may have (cpu/merit.ts). */
export const SHORTFALL_WEIGHT = 8;

/** Weight of the squared excess over an edge's limit against the squared distance to the target. */
export const EXCESS_WEIGHT = 1000;

/** So many steps in a row with too little gain end the phase. */
export const MAX_POOR_STEPS = 3;

/** The share of the merit that a step in a heap must gain at least, for each time that it costs as much as a cheap one. */
export const HEAP_MIN_GAIN = 0.01;

/**
 * A step is no poor one while a vertex that a leap limits comes nearer to its target by this share of the leap: one vertex
 * on its way counts for little in the merit of a large mesh. A crowd that only creeps towards far targets does not.
 */
export const LEAP_PROGRESS = 0.1;

/** So many with vertices that are held in every new box end it as stalled. */
export const MAX_HELD_STEPS = 8;

/** The last steps, which only shorten edges: sweeps of each, and their rest. */
export const SHORTENING_SWEEPS = 64;
export const SHORTENING_REST = 0.002;

/**
 * They go on while each takes this share off what is over the limits, or the larger one in a heap (cpu/poor-steps.ts), where steps are dear. A
 * sheet that is drawn together by a third lies in its own way: planes between its elements grant a tenth of a motion, so that a step takes a
 * tenth of the excess at first, and most of it at last.
 */
export const MIN_SHORTENING_GAIN = 0.02;
export const HEAP_SHORTENING_GAIN = 0.1;

/** So many in a row that take less end them: one may open what the next one closes, since the planes of contacts change between them. */
export const MAX_POOR_SHORTENINGS = 2;

/** And so many if boxes hold vertices, which get new ones. */
export const MAX_HELD_SHORTENINGS = 8;

/** Their limits are shorter by this share of δ, twice their rest, so that no edge rests just above its own. */
export const SHORTENING_SLACK = 2 * SHORTENING_REST;

/**
 * Where a step is poor while edges over their limits are a larger part of the merit than it must gain, sweeps go on in rounds from the next
 * step on, while what they leave is more than this share of the merit; the steps that only shorten edges leave nothing, as long as they can.
 */
export const SWEPT_EXCESS = 0.01;

/** Rounds of the sweeps of a step at most, and so many without a new low of the excess, by this factor. */
export const MORE_SWEEPS = { rounds: 32, patience: 4, gain: 0.9 } as const;

/** Every so many sweeps look at all rows; those between only at the ones that act. */
export const COMPLETE_EVERY = 8;

/** Bound on the momentum β; Nesterov's k/(k + 3) up to there. */
export const MAX_MOMENTUM = 0.9;

/** An edge longer than this share of its limit takes part in every sweep; the others are looked at now and then. */
export const NEAR_LIMIT = 0.95;

/** Passes over the edges in which a step may still be shortened; what they leave too long, the next step sees. */
export const HOLD_BACK_PASSES = 20;

// Strain limits

/** A strain below this share of the length at rest: the element has no rotation of its own. */
export const FLATTEST_STRAIN = 1e-3;

/** The sweeps of a step towards y* go on (MORE_SWEEPS) while a strain is farther out of its limits than this; those of the last steps while any is. */
export const SWEPT_STRAIN = 5e-3;

/** The strain that neighbours of an element may get in a step because one of them is held. */
export const HELD_STRAIN = 0.05;

/** The last steps narrow the range of strains by at most this share of it, at either end. */
export const MAX_STRAIN_SLACK = 0.125;

// Report

/** A report names the pairs that limit at most this many vertices, those with the largest residuals. */
export const LIMITING_PAIRS = 8;
