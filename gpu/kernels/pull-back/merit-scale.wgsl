// 1 over the unit: 2^−n for 2^n ≤ the largest distance, and no more than 2^40 where that is less than any edge can tell.
fn meritScale(unitBits: u32) -> f32 {
  let exponent = clamp(unitBits >> 23u, 87u, 253u);
  return bitcast<f32>((254u - exponent) << 23u);
}
