// A pair of P has up to four vertex slots, side a first: VT [a | i j k], EE [a b | c d], VE [a | i j], VV [a | i].
// Mirrors src/solver/pair-kinds.ts.

fn cornersOf(kind: u32) -> u32 {
  return select(select(4u, 3u, kind == VE), 2u, kind == VV);
}

fn sideAOf(kind: u32) -> u32 {
  return select(1u, 2u, kind == EE);
}

// The entry of a pair in a list: its index and, above it, its kind. The list of the forward step adds IS_CURRENT where the
// pair was measured in this step.
fn entryOf(p: u32, kind: u32) -> u32 {
  return p | (kind << KIND_SHIFT);
}

fn pairOf(entry: u32) -> u32 {
  return entry & INDEX_MASK;
}

fn kindOf(entry: u32) -> u32 {
  return (entry >> KIND_SHIFT) & KIND_MASK;
}

// A contact whose movable vertices all carry less weight than this is left to the forward step.
const MIN_MOVABLE_WEIGHT: f32 = 0.05;
// A contact is listed at a movable vertex only if it is among this many closest there.
const CONTACTS_PER_VERTEX: u32 = 24u;
// A vertex that got less than STUCK_SHARE of its way because of a pair, this many steps running, is stuck.
const STUCK_STEPS: u32 = 4u;
const STUCK_SHARE: f32 = 0.01;
