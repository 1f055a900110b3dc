// The status block: what kernels of one step tell each other, and all that the host ever reads of a run.
// Plain fields are written by kernels of one thread only.
struct Control {
  // RUNNING … below
  state: u32,
  // steps done in this request, and since the scene was opened: the clock tells current pair geometry from stale
  steps: u32,
  clock: u32,
  searches: u32,
  pairCount: u32,
  pairCapacity: u32,
  // pairs that the last search found, which may be more than there is room for
  pairDemand: u32,
  candidateCapacity: u32,
  // candidates that a step found, when there is no room for them
  candidateDemand: u32,
  // NO_SEARCH, SEARCH_PART, SEARCH_ALL or SEARCH_RESUME, for the step to come
  wantsSearch: u32,
  // 1 = P and boxes are valid for the start of this request
  isReused: u32,
  // D(l), guard RADIUS
  radius: f32,
  windowSteps: u32,
  windowSum: f32,
  hasForcedSearch: u32,
  // 1 = the counters of stopped steps begin anew
  clearsStopped: u32,
  // of the last step
  residual: f32,
  unfinished: u32,
  touching: u32,
  // of the whole request
  mostContacts: u32,
  mostRounds: u32,
  // collected during a step, taken over and zeroed by decide
  residualBits: atomic<u32>,
  unfinishedCount: atomic<u32>,
  touchingCount: atomic<u32>,
  largestMoveBits: atomic<u32>,
  concernedCount: atomic<u32>,
  stoppedCount: atomic<u32>,
  starvedCount: atomic<u32>,
  wantedCount: atomic<u32>,
  hasMoved: atomic<u32>,
  residualSum: atomic<u32>,
  residualSumHigh: atomic<u32>,
  // pairs in the list that active-geometry or active-bound is making
  listedCount: atomic<u32>,
  candidateCount: atomic<u32>,
  listTop: atomic<u32>,
  keptCount: atomic<u32>,
  rowCount: atomic<u32>,
  // pairs in the list that geometry, and later the forward step, works on
  activeCount: u32,
  // the sweep's queue of contacts whose turn has come: its end, how many stand in it from the start, what the round under
  // way takes of it, rounds of this sweep, and sweeps done in this step
  queueTail: atomic<u32>,
  readyCount: atomic<u32>,
  queueBegin: u32,
  queueEnd: u32,
  sweepRounds: u32,
  sweepsDone: u32,
  // pairs and boxes do not fit this request
  invalidCount: atomic<u32>,
  // pairs of each kind, counted at the end of a request
  vertexTriangle: atomic<u32>,
  edgeEdge: atomic<u32>,
  vertexEdge: atomic<u32>,
  vertexVertex: atomic<u32>,
}

const RUNNING: u32 = 0u;
const CONVERGED: u32 = 1u;
const STALLED: u32 = 2u;
const AT_STEP_LIMIT: u32 = 3u;
// paused: the host has to search, or to make room for pairDemand pairs, or for candidateDemand candidates
const NEEDS_SEARCH: u32 = 4u;
const NEEDS_ROOM: u32 = 5u;
const NEEDS_CANDIDATES: u32 = 6u;

const NO_SEARCH: u32 = 0u;
const SEARCH_PART: u32 = 1u;
const SEARCH_ALL: u32 = 2u;
// P has got the room that the last search wanted: it only has to be written
const SEARCH_RESUME: u32 = 3u;

// The same words for kernels that only read: a binding that is read-only may hold no atomics.
struct ControlView {
  state: u32,
  steps: u32,
  clock: u32,
  searches: u32,
  pairCount: u32,
  pairCapacity: u32,
  pairDemand: u32,
  candidateCapacity: u32,
  candidateDemand: u32,
  wantsSearch: u32,
  isReused: u32,
  radius: f32,
  windowSteps: u32,
  windowSum: f32,
  hasForcedSearch: u32,
  clearsStopped: u32,
  residual: f32,
  unfinished: u32,
  touching: u32,
  mostContacts: u32,
  mostRounds: u32,
  residualBits: u32,
  unfinishedCount: u32,
  touchingCount: u32,
  largestMoveBits: u32,
  concernedCount: u32,
  stoppedCount: u32,
  starvedCount: u32,
  wantedCount: u32,
  hasMoved: u32,
  residualSum: u32,
  residualSumHigh: u32,
  listedCount: u32,
  candidateCount: u32,
  listTop: u32,
  keptCount: u32,
  rowCount: u32,
  activeCount: u32,
  queueTail: u32,
  readyCount: u32,
  queueBegin: u32,
  queueEnd: u32,
  sweepRounds: u32,
  sweepsDone: u32,
  invalidCount: u32,
  vertexTriangle: u32,
  edgeEdge: u32,
  vertexEdge: u32,
  vertexVertex: u32,
}
