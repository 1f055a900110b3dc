// Tested by the exponent, because a compiler may assume that there is neither infinity nor NaN. Numbers beyond 2^120 are out
// of range too: their differences and heights would not remain finite.
fn isInRange(bits: u32) -> bool {
  return ((bits >> 23u) & 0xffu) < 247u;
}

// Whether every one of the terms whose sizes were added up is in range. A sum keeps the infinity or NaN that a minimum or maximum
// may drop.
fn isSumInRange(sizes: f32) -> bool {
  return isInRange(bitcast<u32>(sizes));
}
