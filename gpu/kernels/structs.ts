import { Struct } from '../device/struct.js';

/*
 * Every struct that the host and the kernels share. A kernel that names one of them, or its `…View` without atomics,
 * receives its declaration when it is assembled (gpu/shaders.ts). Lengths are in engine units.
 */

/** The parameters of one request, a uniform of every kernel of a step. */
export const PARAMETERS = new Struct('Parameters', {
  vertexCount: ['u32', 'V'],
  edgeCount: ['u32', 'Edges with a length constraint, in the order of the sweep.'],
  wideColours: ['u32', 'Colours that whole dispatches sweep; one workgroup sweeps the others.'],
  stepLimit: ['u32', 'The steps of the request after which this phase ends: L, the maximum number, less those below.'],
  reservedSteps: ['u32', 'Steps that are left to the phases that may follow.'],
  delta: ['f32', 'δ, the activation distance.'],
  floor: ['f32', 'd_floor, the distance that every pair keeps.'],
  keptGap: ['f32', 'A gap that the forward step leaves of larger ones, instead of the floor; 0 = none.'],
  gamma: ['f32', 'γ, the damping of the forward step.'],
  epsilon: ['f32', 'ε, the termination threshold of the residuals.'],
  sigma: ['f32', 'σ, the maximum stretch of an edge.'],
  radiusMin: ['f32', 'D_min, guard RADIUS only.'],
  radiusMax: ['f32', 'D_max, guard RADIUS only.'],
  arrivedWithin: ['f32', '4uX: a vertex this close to its target on each axis has arrived.'],
  isPlanar: ['u32', '1 = half-space bound, 0 = isotropic bound.'],
  isVolume: ['u32', '1 = volume form of the contacts, 0 = gap form.'],
  hasBoxes: ['u32', '1 = guard BOXES, 0 = guard RADIUS.'],
  skipsKinematicPairs: ['u32', '1 = pairs of kinematic elements are excluded even where they move.'],
  waitsForSearch: ['u32', '1 = the host searches: the run pauses for each search.'],
  watchesSearch: [
    'u32',
    '1 = a step after which a search is due pauses the run: none is recorded before the next one.',
  ],
  tailRows: ['u32', 'Whole dispatches should begin the sweep of more contacts than this.'],
  roundRows: ['u32', 'One workgroup should take a round of no more contacts than this.'],
  coveredCandidates: [
    'u32',
    'A step with more candidates pauses: the whole dispatches that its sweep wants were not recorded.',
  ],
  hasDistances: ['u32', '1 = parts have their own δ: one a vertex, behind the positions in `start`.'],
  leastDelta: ['f32', 'The smallest of these δ.'],
  mostDelta: ['f32', 'The largest of these δ.'],
  hasPullBack: ['u32', '1 = the pull-back follows when Algorithm 1 has ended.'],
  hasEarlyPullBack: ['u32', '1 = also when its kinematic vertices have arrived: targets are not scattered.'],
  hasStrains: ['u32', '1 = the pull-back keeps strain limits.'],
  hasRest: ['u32', '1 = edges have lengths at rest.'],
  isAiming: ['u32', '1 = contacts are those of the pull-back: w of pairNormal is their aim, not δ_p.'],
  furtherRange: ['f32', 'In δ: pairs may be contacts from this far beyond δ; in the pull-back, for large offsets.'],
  movesAll: ['u32', '1 = every vertex counts as moving when the contacts of a step are sought.'],
  colours: ['u32', 'Colours of the edges.'],
  sweeps: ['u32', 'Sweeps of a step of Algorithm 1.'],
  leap: ['f32', 'The longest motion that a trust box covers, unless P had no room for the pairs.'],
});

/** The parameters of one phase of the pull-back, a uniform of its kernels. */
export const PULL_BACK = new Struct('PullBack', {
  phase: ['u32', 'PHASE_PULL, also for its other steps, or PHASE_SHORTEN.'],
  hasFiner: ['u32', '1 = finer steps follow where these gain too little.'],
  tau: ['f32', 'τ: share of the way to y* that a vertex takes which was pushed lately; 0 = it rests.'],
  longest: ['f32', 'The longest motion of a step.'],
  minGain: ['f32', 'Share of Φ that a cheap step must gain.'],
  cheapPairs: ['f32', 'Pairs of P up to which a step is cheap.'],
  offsetShare: ['f32', 'Contact offset over δ, where parts have none of their own.'],
  warmEdges: ['f32', 'Share of the multipliers of the last step that edge limits begin with.'],
  warmContacts: ['f32', 'The same of contacts.'],
  slack: ['f32', 'Shortens every edge limit.'],
  pushed: ['f32', 'A push shorter than this does not count as one.'],
  rest: ['f32', 'A motion shorter than this is not made.'],
  colours: ['u32', 'Colours of the edges.'],
  hasOffsets: ['u32', '1 = parts have contact offsets of their own: `offsets` has that of each vertex.'],
  sweeps: ['u32', 'Sweeps of a step, and of each further round of them.'],
  strainColours: ['u32', 'Colours of the elements with strain limits.'],
  far: ['f32', 'The mesh is on its way (ON_ITS_WAY) while the root of Σ m |x − y*|² is more; 0 = it never is.'],
  progress: ['f32', '2 s √Σm, with s the least progress of a step on the way (LEAST_PROGRESS).'],
  restsKept: ['u32', '1 = vertices rest that something has kept far from their targets (IS_KEPT).'],
});

/**
 * The control block: the data that the kernels of a step exchange, and everything that the host reads of a run. Only
 * kernels of one thread write its plain fields.
 */
export const CONTROL = new Struct('Control', {
  state: ['u32', 'RUNNING to ENDS_PIECES.'],
  steps: ['u32', 'Steps of this request.'],
  clock: ['u32', 'Steps since the scene was opened: distinguishes current pair geometry from stale.'],
  searches: ['u32', 'Searches of this request.'],
  pairCount: ['u32', 'Pairs in P.'],
  pairCapacity: ['u32', 'Pairs that the buffers hold.'],
  pairDemand: ['u32', 'Pairs that the last search found; may exceed the capacity.'],
  candidateCapacity: ['u32', 'Candidates that the buffers hold.'],
  packedRows: ['u32', 'Constraints of contacts for which the buffers have room in the order of a sweep.'],
  candidateDemand: ['u32', 'Candidates that a step found where the capacity did not suffice.'],
  wantsSearch: ['u32', 'SEARCH_NONE to SEARCH_RESUME, for the next step.'],
  isReused: ['u32', '1 = P and the boxes are valid for the start of this request.'],
  radius: ['f32', 'D(l), guard RADIUS.'],
  windowSteps: ['u32', 'Steps of the current window.'],
  windowSum: ['f32', 'Σr at the end of the previous window.'],
  hasForcedSearch: ['u32', '1 = stagnation has requested a search in the previous window.'],
  clearsStopped: ['u32', '1 = the counters of stopped steps begin anew.'],
  residual: ['f32', 'Largest residual of the last step.'],
  unfinished: ['u32', 'Unfinished vertices of the last step.'],
  touching: ['u32', 'Pairs without a certificate in the last step.'],
  phase: ['u32', 'PHASE_ADVANCE to PHASE_OTHERS; where the run needs another phase, that one.'],
  ending: [
    'u32',
    'How Algorithm 1 ended where the pull-back follows; how that ended where the shortening of edges follows.',
  ],
  hasAim: ['u32', '1 = the sweeps of the step have made y: its forward step is next.'],
  keptAt: ['u32', 'Clock of the step whose contact multipliers are kept by pair; 0 = none are.'],
  poorSteps: ['u32', 'Steps of the pull-back in a row that gained too little.'],
  beyond: ['f32', 'Φ of the last state beyond that of the best one, as a share of the latter; 0 = it was the best.'],
  wasTaut: ['u32', '1 = since the last good step, edges over their limits have made one poor.'],
  hasRecovered: ['u32', '1 = since that one, a step has lowered Φ towards that of the best state.'],
  worseSteps: ['u32', 'Of these, in a row, that were worse than the best state.'],
  poorShortenings: ['u32', 'Steps in a row that only shortened edges, and too little.'],
  hasGained: ['u32', '1 = a step of this phase of the pull-back was not poor.'],
  isClosed: ['u32', '1 = the last step towards y* was poor and its contacts were closed (CLOSED_SHARE).'],
  mayResume: ['u32', '1 = steps towards y* are resumed after the last ones.'],
  resumptions: ['u32', 'How often they were.'],
  resumedMerit: ['f32', 'bestMerit where the last steps began after which they were resumed.'],
  bestMerit: ['f32', 'Φ of the best state, in units of `unitBits` squared.'],
  bestExcess: ['f32', 'Its part of edges above their limits, before its weight.'],
  isThorough: ['u32', '1 = sweeps go on until edges over their limits are a small part of Φ.'],
  leastExcess: [
    'f32',
    'The least excess of edges after a round of the sweeps of this step, in units of `unitBits` squared.',
  ],
  bestRound: ['u32', 'The round that it was.'],
  bests: ['u32', 'States that were the best when they were reached.'],
  isBest: ['u32', '1 = that of the last step of the pull-back was one.'],
  furtherPieces: ['u32', 'Pieces of this forward step of the pull-back after the first one; a step clears it.'],
  lastFurther: ['u32', 'The same of the last step.'],
  momentum: ['f32', 'β of the extrapolation that precedes the coming sweep.'],
  momentumSteps: ['u32', 'k, sweeps since its last restart.'],
  firstTail: ['u32', 'First colour of edges that one workgroup sweeps, where only edges that act are swept.'],
  short: ['u32', 'Kinematic vertices that had used up their motion after the last step and were not on their targets.'],
  stateBefore: ['u32', 'State to which the run returns after the last step of kinematic vertices.'],
  limitedIn: [
    'u32',
    'Searches of this request when the last step was done: the pairs that it has noted as limiters are of that P.',
  ],
  candidates: ['u32', 'Candidates of the last step that has swept.'],
  mostContacts: ['u32', 'Largest number of contacts in a step of this request.'],
  mostRounds: ['u32', 'Largest number of rounds of a sweep in this request.'],
  wideRounds: [
    'u32',
    'The number of the last round of a sweep of the last step, counted from 1, that whole dispatches should take, by tailRows and roundRows; 0 = none.',
  ],
  wideOrdering: ['u32', 'The same of the rounds in which the contacts of a step of the pull-back are coloured.'],
  sweptEnds: [
    'u32',
    'Of the edges that act and the contacts in the last step of the pull-back: their vertices, counted once for each.',
  ],
  sweptEdges: ['u32', 'Most edges that a sweep of the last step had listed (listed/sweeps.wgsl).'],
  mostTurns: ['u32', 'Largest number of turns that one workgroup took over the contacts of a sweep in this request.'],
  mostOrderingTurns: ['u32', 'The same, to colour the contacts of a step of the pull-back.'],
  residualBits: ['atomic<u32>', 'From here to readyCount: collected during a step; `decide` reads and clears them.'],
  unfinishedCount: ['atomic<u32>', 'Vertices with r ≥ ε.'],
  touchingCount: ['atomic<u32>', 'Pairs without a certificate.'],
  largestMoveBits: ['atomic<u32>', 'Bits of the longest motion, guard RADIUS.'],
  relevantCount: ['atomic<u32>', 'Vertices that matter for the decision to search.'],
  stoppedCount: ['atomic<u32>', 'Relevant vertices that their trust boxes stopped.'],
  starvedCount: ['atomic<u32>', 'Vertices that were stopped for STOPPED_STEPS.'],
  wantedCount: ['atomic<u32>', 'Vertices that need a new box.'],
  hasMoved: ['atomic<u32>', '1 = an unfinished vertex has travelled in this window.'],
  residualSum: ['atomic<u32>', 'Σr of the unfinished vertices in 1/RESIDUAL_PARTS, low word.'],
  residualSumHigh: ['atomic<u32>', 'The high word.'],
  listedCount: ['atomic<u32>', 'Pairs that may be contacts.'],
  candidateCount: ['atomic<u32>', 'Candidates of this step.'],
  listTop: ['atomic<u32>', 'End of the vertices’ lists of candidates.'],
  keptCount: ['atomic<u32>', 'Candidates that were selected, where rank counts them (contacts-select.wgsl).'],
  rowCount: ['atomic<u32>', 'Contacts of the sweep.'],
  activeCount: ['atomic<u32>', 'Pairs that the forward step examines.'],
  readyCount: ['atomic<u32>', 'Contacts of the first round of a sweep, or of those in which they are coloured.'],
  evenBegin: [
    'u32',
    'First place in the sweep’s queue of a round with an even number: of the one that runs, or of the next.',
  ],
  oddBegin: ['u32', 'The same of a round with an odd number.'],
  sweepsDone: ['u32', 'Sweeps of this step.'],
  invalidCount: ['atomic<u32>', 'Vertices for which P and the boxes are not valid.'],
  lateCount: ['atomic<u32>', 'Unfinished kinematic vertices; a step clears it.'],
  shortCount: ['atomic<u32>', 'Kinematic vertices with r < ε that are not on their targets; a step clears it.'],
  movingCount: ['atomic<u32>', 'Vertices that a step of the pull-back wanted to move; a step clears it.'],
  heldCount: ['atomic<u32>', 'Those that their trust boxes held; a step clears it.'],
  jammedCount: ['atomic<u32>', 'Those granted less than JAMMED_ALPHA in its last piece; a step clears it.'],
  leftCount: ['atomic<u32>', 'Vertices that a piece of the pull-back has not brought to y; a step clears it.'],
  boxLoss: [
    'atomic<u32>',
    'What trust boxes take of the motions of a step of the pull-back, Σ (1 − α) in 1/LOSS_PARTS.',
  ],
  isLeaping: [
    'atomic<u32>',
    '1 = a vertex that its leap limits has come nearer to its target by LEAP_PROGRESS of the leap.',
  ],
  hasFree: ['atomic<u32>', '1 = a step of the pull-back has wanted to move a vertex that no row had pushed.'],
  hasKept: ['atomic<u32>', '1 = the last step towards the targets has left a vertex far from its target (IS_KEPT).'],
  unitBits: ['atomic<u32>', 'Bits of the largest |x − y*| on an axis of a dynamic vertex where the pull-back began.'],
  vertexTriangle: ['atomic<u32>', 'Pairs of each kind, counted at the end of a request.'],
  edgeEdge: ['atomic<u32>', ''],
  vertexEdge: ['atomic<u32>', ''],
  vertexVertex: ['atomic<u32>', ''],
});

/** The results of a step for a vertex. */
export const VERTEX_STEP = new Struct('VertexStep', {
  alpha: ['atomic<u32>', 'Bits of α_i, 0 ≤ α_i ≤ 1: the order of the bits is the order of the numbers.'],
  guard: ['f32', 'α from the trust box, or from the radius.'],
  limiter: ['atomic<u32>', 'The first pair that bounded or reverted the vertex; NO_PAIR = none.'],
  flags: ['atomic<u32>', 'MOVING | MOVABLE | STUCK in the backward step, MOVING | REVERTED in the forward step.'],
});

/** The values of a vertex that persist over the steps of a request. */
export const VERTEX_PROGRESS = new Struct('VertexProgress', {
  residual: ['f32', 'r_i'],
  stopped: ['u32', 'Consecutive steps in which the guard stopped the vertex.'],
  relevant: [
    'atomic<u32>',
    'Clock of the last step after which the vertex was unfinished, or in a pair that bounds an unfinished vertex.',
  ],
  stuck: ['u32', 'Consecutive steps with hardly any motion because of a pair, up to STUCK_STEPS.'],
});

/** The values of a vertex that the pull-back keeps. */
export const VERTEX_PULL = new Struct('VertexPull', {
  unpushed: ['u32', 'Steps since a row pushed the vertex, up to FREE_STEPS.'],
  before: ['f32', 'r_i where Algorithm 1 ended.'],
  lastPull: [
    'u32',
    'In the last step towards the targets its trust box held it (WAS_HELD), it wanted to move (DID_WANT), something kept it far from its target (IS_KEPT); it wants to move in the coming step (WANTS).',
  ],
  farAway: ['f32', '|y* − x| before a step towards the targets; negative where its leap does not limit the motion.'],
  share: ['f32', 'Share of the way to y* at which y was rebuilt.'],
});

/** The values that the vertices of a component of elements with strain limits share. */
export const STRAIN_SHARES = new Struct('StrainShares', {
  pace: ['f32', 'Share of the way to y* in this step.'],
  lastPace: ['f32', 'In the step before.'],
  ofMultipliers: ['f32', 'Share of the multipliers of the last step with which this one begins.'],
  ofMotions: ['f32', 'Share of the way from x to y that it goes.'],
});

/** The values that decide whether the sweeps of a step continue for strain limits. */
export const STRAIN_PROGRESS = new Struct('StrainProgress', {
  worst: ['atomic<u32>', 'Bits of the largest strain beyond a limit after this round.'],
  leastExcess: ['f32', 'The least sum of squares after a round of this step.'],
  bestRound: ['u32', 'The round that it was.'],
});

/** The list of the contacts at a vertex: its candidates, and the number of them that are rows of this step's sweep. */
export const CONTACT_LIST = new Struct('ContactList', {
  count: ['atomic<u32>', 'Candidates.'],
  offset: ['u32', 'Place of the first one.'],
  cursor: ['atomic<u32>', 'Candidates that were filled in; then the unique contacts with a weight at the vertex.'],
  rows: ['atomic<u32>', 'Rows.'],
});

/**
 * A pair closer than its δ_p in this step, which may become a contact. The candidates' numbers depend on the order of
 * the threads; no decision depends on them.
 */
export const CANDIDATE = new Struct('Candidate', {
  weight: ['vec4f', 'Closest-point weights; each side sums to 1.'],
  masses: ['vec4f', 'Of a row: inverse masses of the slots, 0 where the weight is 0.'],
  entry: ['u32', 'Index and kind of the pair (entryOf).'],
  distance: ['f32', ''],
  isUnique: ['u32', '1 = no closer candidate has the same vertices.'],
  place: ['u32', 'Of a row: its place in the order of the sweep, or of the greedy colouring.'],
  lambda: ['f32', 'λ'],
  stiffness: ['f32', 'K = Σ w |J|²'],
  excess: ['f32', 'c(x) = d − δ_p'],
  before: ['f32', 'λ after the sweep before; pull-back only.'],
});

/** A pair of the forward step's list, and the half-spaces to which the check holds its corners. */
export const LIMIT = new Struct('Limit', {
  low: ['f32', 'No corner of side a may lie below this height.'],
  high: ['f32', 'No corner of side b may lie above this height.'],
  error: ['f32', 'e at x.'],
  entry: ['u32', 'Index and kind of the pair, and IS_CURRENT (entryOf).'],
});

/** The rounds of a contact sweep that a dispatch runs. */
export const SWEEP_RANGE = new Struct('SweepRange', {
  round: ['u32', 'Of a whole dispatch its round, of the tail its first one; counted from 0.'],
});

/** The edges that one dispatch of the edge length sweep projects. */
export const EDGE_RANGE = new Struct('EdgeRange', {
  first: ['u32', 'First edge of a colour, or of the tail.'],
  end: ['u32', 'Its end.'],
  isFirst: ['u32', '1 = the first sweep of a step: λ counts as 0.'],
  firstColour: ['u32', 'Tail: its first colour.'],
  endColour: ['u32', 'Tail: the end of its colours.'],
});

/** The block through which a search is requested and answered. */
export const SEARCH_CONTROL = new Struct('SearchControl', {
  mode: ['u32', 'Requested: SEARCH_NONE to SEARCH_RESUME.'],
  leap: ['f32', 'Requested: longest free motion that one box covers.'],
  reach: ['f32', 'Requested: growth of the trust boxes.'],
  growth: ['f32', 'Requested: growth of the elements’ boxes on each side.'],
  cut: ['f32', 'Requested: distance beyond which a pair is dropped.'],
  capacity: ['u32', 'Requested: pairs that the buffers hold.'],
  budget: ['u32', 'Requested: maximum number of pairs.'],
  pairCount: ['u32', 'Pairs in P.'],
  isValid: ['u32', '1 = P and the boxes are valid together.'],
  demand: ['u32', 'Answered: pairs that P needs (saturating).'],
  overflow: ['u32', 'Answered: 1 = too many pairs; P was not written.'],
  kept: ['u32', 'Answered: pairs taken over from the old P.'],
  searches: ['u32', 'Answered: completed searches.'],
  isPoint: ['u32', 'Fixed: 1 = guard RADIUS, the boxes are points.'],
  skipsKinematic: ['u32', 'Fixed: 1 = kinematic vertices are passive even where they move.'],
  vertices: ['u32', 'Fixed: V.'],
  queries: ['u32', 'Fixed: queries of all walks together.'],
  oldPairs: ['u32', 'Of this search: pairs of the old P that are examined.'],
  entries: ['u32', 'Of this search: entries of the prefix sum (search/marks.wgsl).'],
  isResumed: ['u32', '1 = resumes a search of everything that found too little room: its counts are valid.'],
});

/** The dispatches of a search, and the place where a control block of the steps requests one. */
export const SEARCH_PLAN = new Struct('SearchPlan', {
  early: ['u32', 'Dispatches before settleSearch.'],
  all: ['u32', 'Dispatches in all.'],
  mark: ['u32', 'Number of the dispatch of boxElements, which also marks the pairs that are kept.'],
  scan: ['u32', 'Of the first dispatch of the prefix sum.'],
  levels: ['u32', 'Levels of the prefix sum.'],
  gather: ['u32', 'Number of the dispatch of gatherKept.'],
  settle: ['u32', 'Of settlePairs.'],
  hasStatus: ['u32', '1 = `status` is the control block of the steps, and says what to do in the words below.'],
  state: ['u32', 'Word of Control.state.'],
  wantsSearch: ['u32', 'Word of Control.wantsSearch.'],
  pairDemand: ['u32', 'Word of Control.pairDemand.'],
  chunks: ['u32', 'Word of `offsets` that counts the chunks of finds in use (walk-pairs.wgsl).'],
});

/** The slots of all elements, from which their boxes are computed. */
export const ELEMENT_SLOTS = new Struct('ElementSlots', {
  count: ['u32', 'Slots.'],
  first: ['u32', 'Index of slot 0 in `cells`: the nodes of the trees come first.'],
  sets: ['u32', 'Place in `topology` of the first SetOfSlots.'],
  setCount: ['u32', 'How many there are.'],
  distances: ['u32', 'Place of vertex 0’s δ in `topology`; 0 = one δ for all.'],
  border: ['u32', 'Place in `topology` of one bit a slot, 1 = at the border of a kinematic region; 0 = none is.'],
});

/** Elements of one sort, in slots one behind the other. */
export const SET_OF_SLOTS = new Struct('SetOfSlots', {
  slot: ['u32', 'First slot.'],
  vertices: ['u32', 'Place in `topology` of the vertices of its element.'],
  size: ['u32', 'Vertices of an element.'],
});

/** A tree that is refitted. */
export const REFIT = new Struct('Refit', {
  nodes: ['u32', 'Index of node 0 in `cells`.'],
  slots: ['u32', 'Index of slot 0 in `cells`.'],
  count: ['u32', 'Slots of the tree.'],
  width: ['u32', 'Leaves, a power of two; 0 = there is no further tree.'],
});

/**
 * The parameters that all walks of a search share; a walk tests every element of one set against the tree of another.
 */
export const SEARCH_WALK = new Struct('SearchWalk', {
  isWriting: ['u32', '0 = count, 1 = write.'],
  kinds: ['u32', 'Place in `topology` of the first WalkOfKind.'],
  kindCount: ['u32', 'How many there are.'],
  boxes: ['u32', 'Index of slot 0 in `cells`.'],
  hasIgnored: ['u32', '1 = pairs of parts are ignored.'],
  parts: ['u32', 'Place in `topology` of the part of vertex 0.'],
  ignoredFirst: ['u32', 'Place of the first of each part’s ignored parts.'],
  ignored: ['u32', 'Place of the lists of ignored parts, ascending.'],
  chunks: [
    'u32',
    'Word of `offsets` that counts the chunks in use; the chunks follow, one a query, then as many again.',
  ],
  distances: ['u32', 'Place of vertex 0’s δ in `topology`; 0 = one δ for all.'],
  marks: ['u32', 'Place of one bit a vertex: it is in an excluded pair.'],
});

/** The walk that finds the pairs of one kind. */
export const WALK_OF_KIND = new Struct('WalkOfKind', {
  firstGroup: ['u32', 'Its first workgroup.'],
  firstQuery: ['u32', 'Number of its first query among all queries.'],
  ownSlot: ['u32', 'First slot of the queries.'],
  ownCount: ['u32', 'Queries.'],
  ownVertices: ['u32', 'Place in `topology` of the vertices of the first query.'],
  ownSize: ['u32', 'Vertices of a query.'],
  nodes: ['u32', 'Node 0 of the tree.'],
  otherSlot: ['u32', 'Its first slot.'],
  otherCount: ['u32', 'Its slots.'],
  otherVertices: ['u32', 'Place in `topology` of the vertices of its first element.'],
  otherSize: ['u32', 'Vertices of an element.'],
  leaves: ['u32', 'Its leaves, a power of two.'],
  excludedFirst: ['u32', 'Place of the keys of the excluded pairs of this kind, ascending.'],
  excludedCount: ['u32', 'How many there are.'],
  kind: ['u32', 'Kind of the pairs.'],
  isSelf: ['u32', '1 = the tree is that of the queries.'],
  isOfPoints: ['u32', '1 = the queries are particles.'],
});

/** The place where a prefix sum finds the number of its entries, and its levels. */
export const SCAN_PLAN = new Struct('ScanPlan', {
  countWord: ['u32', 'Word of `counts` that holds the number of entries.'],
  levels: ['u32', 'Levels.'],
});

/** One level of a prefix sum. */
export const SCAN_LEVEL = new Struct('ScanLevel', {
  countWord: ['u32', 'Word of `counts` that holds the number of entries of level 0.'],
  level: ['u32', 'Level; 0 is the data.'],
});

/** One level of the state filter's tree of triangles. */
export const FILTER_LEVEL = new Struct('FilterLevel', {
  triangles: ['u32', 'Triangles in all.'],
  leaves: ['u32', 'Leaves of the tree.'],
  width: ['u32', 'Nodes of this level.'],
  isLeaf: ['u32', '1 = they are leaves.'],
});

/** A request to the state filter. */
export const FILTER_WALK = new Struct('FilterWalk', {
  edges: ['u32', 'Edges, each a query.'],
  triangles: ['u32', 'Triangles.'],
  leaves: ['u32', 'Leaves of their tree, a power of two; its slots begin at 2 · leaves.'],
  capacity: ['u32', 'Pairs that the list holds.'],
  slack: ['f32', '1.25 · 2e + 2⁻¹²⁰, more than 1.25 s of signs.wgsl.'],
  zero: ['u32', '0, which the compiler does not know.'],
  hasIgnored: ['u32', '1 = pairs of parts are ignored.'],
  parts: ['u32', 'Parts.'],
  stamp: ['u32', 'A number of this request, never 0.'],
});

/** The state filter's answer. */
export const FILTER_COUNTS = new Struct('FilterCounts', {
  testedLow: ['atomic<u32>', 'Pairs of overlapping boxes that were examined, low word.'],
  testedHigh: ['atomic<u32>', 'The high word.'],
  doubtful: ['atomic<u32>', 'Pairs to be listed; may wrap, isFull does not.'],
  isFull: ['atomic<u32>', '1 = a pair found no room.'],
  isCrowded: ['atomic<u32>', '1 = an edge has too many neighbours to go on.'],
  walked: ['atomic<u32>', 'Edges that were walked to the end.'],
  stamp: ['atomic<u32>', 'The stamp of the request: the host trusts the counts only with its own stamp.'],
});

/** All structs, by their names in WGSL. */
export const STRUCTS: ReadonlyMap<string, Struct<string>> = new Map(
  [
    ...[PARAMETERS, CONTROL, VERTEX_STEP, VERTEX_PROGRESS, CONTACT_LIST, CANDIDATE, LIMIT, SWEEP_RANGE, EDGE_RANGE],
    ...[PULL_BACK, VERTEX_PULL, STRAIN_SHARES, STRAIN_PROGRESS],
    ...[SEARCH_CONTROL, SEARCH_PLAN, ELEMENT_SLOTS, REFIT, SEARCH_WALK, WALK_OF_KIND, SCAN_PLAN, SCAN_LEVEL],
    ...[FILTER_LEVEL, FILTER_WALK, FILTER_COUNTS],
  ].map((struct) => [struct.name, struct as Struct<string>]),
);
