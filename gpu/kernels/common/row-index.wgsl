// Entries of lists of pairs: index of the pair and its kind.
const INDEX_MASK: u32 = 0x1fffffffu;
const KIND_SHIFT: u32 = 29u;

fn entryOf(p: u32, kind: u32) -> u32 {
  return p | (kind << KIND_SHIFT);
}

fn pairOf(entry: u32) -> u32 {
  return entry & INDEX_MASK;
}

fn kindOf(entry: u32) -> u32 {
  return (entry >> KIND_SHIFT) & KIND_MASK;
}
