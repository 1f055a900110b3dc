// By the exponent, because a compiler may assume that there is neither infinity nor NaN. Numbers beyond 2^120 count as
// out of range too: differences and heights of such would not stay finite.
fn isInRange(bits: u32) -> bool {
  return ((bits >> 23u) & 0xffu) < 247u;
}
