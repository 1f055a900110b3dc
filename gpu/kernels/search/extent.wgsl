// The extent of the boxes of a search that do not rest, as keys whose order is that of the numbers: six words, the lows and the
// inverted highs, each the smallest seen.
const EXTENT_NONE: u32 = 0xffffffffu;

fn keyOf(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

fn valueOf(key: u32) -> f32 {
  return bitcast<f32>(select(~key, key & 0x7fffffffu, key >= 0x80000000u));
}
