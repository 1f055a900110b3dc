// A pair of P has up to four vertex slots, side a first: VT [a | i j k], EE [a b | c d], VE [a | i j], VV [a | i].
// Mirrors src/solver/pair-kinds.ts.

// CORNERS and SIDE_A hold four bits a kind.
fn cornersOf(kind: u32) -> u32 {
  return (CORNERS >> (4u * kind)) & 0xfu;
}

fn sideAOf(kind: u32) -> u32 {
  return (SIDE_A >> (4u * kind)) & 0xfu;
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

