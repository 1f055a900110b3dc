// #include "common/dispatch.wgsl"
// How a prefix sum of any size is cut: blocks of 1,024, their sums in blocks of 1,024, and so on until one is left.

// Entries of a level; level 0 is the data. Never 0, so that a sum over nothing still writes its total.
fn scanLevelCount(count: u32, level: u32) -> u32 {
  var entries = max(count, 1u);
  for (var l = 0u; l < level; l++) {
    entries = groupsFor(entries, SCAN_BLOCK);
  }
  return entries;
}

// Workgroups that a level takes.
fn scanLevelGroups(count: u32, level: u32) -> u32 {
  return groupsFor(scanLevelCount(count, level), SCAN_BLOCK);
}

// Sums stop at 2^32 - 1 instead of wrapping; min(a + b, 2^32 - 1) is associative, so the blocks do not matter.
fn addSaturating(a: u32, b: u32) -> u32 {
  let sum = a + b;
  return select(sum, 0xffffffffu, sum < a);
}
