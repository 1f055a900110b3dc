// Priority of a contact in this step's sweep: a seeded bijection of its pair's index, so that no two are equal; the
// same odd multiplications and xorshifts as Permutation in src/solver/colouring.ts, over the next power of two.
fn placeOf(p: u32, pairCount: u32, seed: u32) -> u32 {
  let bits = max(1u, 32u - countLeadingZeros(max(pairCount, 1u) - 1u));
  let mask = select((1u << min(bits, 31u)) - 1u, 0xffffffffu, bits >= 32u);
  let shift = max(1u, bits >> 1u);
  var v = (p * (((seed ^ 0x9e3779b9u) * 0x85ebca6bu) | 1u) + (seed + 0x7f4a7c15u) * 0xc2b2ae35u) & mask;
  v ^= v >> shift;
  v = (v * (((seed ^ 0x27d4eb2fu) * 0x165667b1u) | 1u)) & mask;
  return v ^ (v >> shift);
}
