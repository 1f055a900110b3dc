// Pairs of P: slots [a | i j k], [a b | c d], [a | i j], [a | i]; mirrors src/solver/cpu/pairs.ts.
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

// What a step computes of a pair. Two marks tell what is current: `stamp` (weight, distance, gap, error belong to the x
// of that step) and `mark`. The last eight words serve twice, first the backward step, then the forward step.
struct PairWork {
  // closest-point weights; each side sums to 1
  weight: vec4f,
  distance: f32,
  // certified gap along the pair's normal, and the rounding bound e of each signed height
  gap: f32,
  error: f32,
  stamp: u32,
  // backward: λ | forward: no corner of side a may sink below this
  first: f32,
  // backward: K = Σ w |J|² | forward: no corner of side b may rise above this
  second: f32,
  // backward: c(x) = d − δ_p | forward: e
  third: f32,
  // clock of the step, with CANDIDATE or UNIQUE while the backward step chooses its contacts
  mark: u32,
  // backward: inverse masses of the slots, 0 where the weight is 0 | forward: bound on α of the slots, NO_BOUND where none
  slots: vec4f,
}
const CANDIDATE: u32 = 0x80000000u;
const UNIQUE: u32 = 0xc0000000u;
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
