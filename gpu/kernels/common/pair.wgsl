// Pairs of P: slots [a | i j k], [a b | c d], [a | i j], [a | i]; mirrors src/solver/pair-kinds.ts.
const VT: u32 = 0u;
const EE: u32 = 1u;
const VE: u32 = 2u;
const VV: u32 = 3u;
// pairInfo: the kind is in the low bits
const KIND_MASK: u32 = 3u;

fn cornersOf(kind: u32) -> u32 {
  return select(select(4u, 3u, kind == VE), 2u, kind == VV);
}

fn sideAOf(kind: u32) -> u32 {
  return select(1u, 2u, kind == EE);
}

// Above the kind in pairInfo: the clock of the step to whose x the pair's normal and pairDistance belong. A search leaves 0.
const STAMP_SHIFT: u32 = 2u;

// Memory that serves twice a step. The backward step works on few pairs, its candidates, with much to remember of each; the
// forward step on nearly all of P, with little. Candidates and limits share one buffer, contact words (backward/contact-words.wgsl)
// and bounds the other, and both are sized for whoever needs more.

// A pair closer than its δ_p in this step: what may become a contact. Numbered as the threads came; nothing that is decided
// depends on the number.
struct Candidate {
  // closest-point weights; each side sums to 1
  weight: vec4f,
  // of a row: inverse masses of the slots, 0 where the weight is 0
  masses: vec4f,
  // index of the pair and its kind (common/pair-entry.wgsl)
  entry: u32,
  distance: f32,
  // 1 = no nearer candidate has the same vertices
  isUnique: u32,
  // of a row: its place in the order of the sweep, λ, K = Σ w |J|² and c(x) = d − δ_p
  place: u32,
  lambda: f32,
  stiffness: f32,
  excess: f32,
  spare: u32,
}

// The same words in fours, for the sweep: reading four at once is one read.
struct SweptCandidate {
  weight: vec4f,
  masses: vec4f,
  // entry, bits of the distance, isUnique, place
  about: vec4u,
  // λ, K, c(x), spare
  state: vec4f,
}

// A pair that the forward step looks at, in the order of its list.
struct Limit {
  // no corner of side a may sink below low, none of side b may rise above high
  low: f32,
  high: f32,
  // e at x
  error: f32,
  // index of the pair, its kind, and whether it was measured in this step (common/pair-entry.wgsl)
  entry: u32,
}

// A contact whose movable vertices all carry less weight than this is left to the forward step.
const MIN_MOVABLE_WEIGHT: f32 = 0.05;
// A contact is listed at a movable vertex only if it is among this many closest there.
const CONTACTS_PER_VERTEX: u32 = 24u;
const NO_BOUND: f32 = 2.0;

// What a step computes of a vertex.
struct Motion {
  // bits of α_i, 0 ≤ α_i ≤ 1: order of the bits is order of the numbers
  alpha: atomic<u32>,
  // α from the trust box, or from the radius
  guard: f32,
  // the first pair that bounded or reverted the vertex, NO_PAIR = none
  limiter: atomic<u32>,
  // MOVING | MOVABLE | STUCK during the backward step, MOVING | REVERTED during the forward step
  flags: atomic<u32>,
}
// The same words for kernels that only read.
struct MotionView {
  alpha: u32,
  guard: f32,
  limiter: u32,
  flags: u32,
}
const MOVING: u32 = 1u;
const MOVABLE: u32 = 2u;
const REVERTED: u32 = 4u;
const STUCK: u32 = 8u;
// A vertex that got less than STUCK_SHARE of its way because of a pair, this many steps running, is stuck.
const STUCK_STEPS: u32 = 4u;
const STUCK_SHARE: f32 = 0.01;
const NO_PAIR: u32 = 0xffffffffu;
const ONE_BITS: u32 = 0x3f800000u;

// Lists of the contacts at a vertex: candidates, and how many of them are rows of this step's sweep.
struct ContactList {
  count: atomic<u32>,
  offset: u32,
  cursor: atomic<u32>,
  rows: atomic<u32>,
}

// What is kept of a vertex over the steps of a request.
struct VertexProgress {
  // r_i
  residual: f32,
  // steps running in which the guard stopped the vertex
  stopped: u32,
  // 1 = unfinished, or in a pair that bounds an unfinished one
  concerned: atomic<u32>,
  // steps running with hardly any motion because of a pair, up to STUCK_STEPS
  stuck: u32,
}
