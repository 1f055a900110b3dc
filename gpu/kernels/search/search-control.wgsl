// The block through which a search is asked for and answers (gpu/search/control.ts names the same words). All words are
// u32 or f32; lengths in engine units.

struct SearchControl {
  // asked: SEARCH_NONE, SEARCH_PART, SEARCH_ALL or SEARCH_RESUME
  mode: u32,
  // asked: longest free motion one box covers, growth of the boxes, growth of the hulls on each side, and the distance
  // beyond which a pair is excluded for good
  leap: f32,
  reach: f32,
  growth: f32,
  cut: f32,
  // asked: what the pair buffers hold, and how many pairs are wanted at most
  capacity: u32,
  budget: u32,
  // P: its pairs, and 1 if P and the boxes are valid together
  pairCount: u32,
  isValid: u32,
  // answered: pairs that P needs (saturating), 1 if that was too many, pairs taken over from the old P, searches done
  demand: u32,
  overflow: u32,
  kept: u32,
  searches: u32,
  // fixed: guard RADIUS (boxes are points), kinematic vertices are passive even where they move
  isPoint: u32,
  skipsKinematic: u32,
  vertices: u32,
  // fixed: queries of all walks together
  queries: u32,
  // of this search: pairs of the old P that are looked at, and entries of the prefix sum
  oldPairs: u32,
  entries: u32,
  // 1 = takes up a search of everything that found too little room: its counts hold
  isResumed: u32,
}

const SEARCH_NONE: u32 = 0u;
const SEARCH_PART: u32 = 1u;
const SEARCH_ALL: u32 = 2u;
const SEARCH_RESUME: u32 = 3u;

// Bar bits (src/solver/cpu/search.ts): an element has a bit iff all its vertices do (less PASSIVE at a
// border, search/element-boxes.wgsl), and a pair with a bit in common is excluded.
const PASSIVE: u32 = 1u;
const KEPT: u32 = 2u;
