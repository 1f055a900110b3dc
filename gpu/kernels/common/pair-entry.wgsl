// Entries of lists of pairs: index of the pair, its kind, and in the list of the forward step whether its geometry is current.
const INDEX_MASK: u32 = 0x1fffffffu;
const KIND_SHIFT: u32 = 29u;
const IS_CURRENT: u32 = 0x80000000u;

fn entryOf(p: u32, kind: u32) -> u32 {
  return p | (kind << KIND_SHIFT);
}

fn pairOf(entry: u32) -> u32 {
  return entry & INDEX_MASK;
}

fn kindOf(entry: u32) -> u32 {
  return (entry >> KIND_SHIFT) & KIND_MASK;
}
