// Which pairs of the old P a search takes over, in `offsets`: a count for each block of MARKED_PAIRS pairs, which the prefix
// sum makes the place of the block's first pair that is kept; then the counts of the queries, which it makes the places of
// their pairs; then, from control.entries on, which pairs of each block are kept, a bit a pair.
// #include "common/dispatch.wgsl"

fn markBlocks(pairs: u32) -> u32 {
  return groupsFor(pairs, MARKED_PAIRS);
}
