// Boxes in 16 bytes, for the walks: cells of a grid over the boxes of a search that do not rest, 15 bits a coordinate. A box
// that overlaps another also does so in cells: lows are taken down and highs up by a cell more than rounding can take (three
// roundings of at most 2^-23 of 32766 cells), and what lies outside the grid is moved to its edge, which keeps the order. Cells
// only save reads: whatever passes them is compared exactly.
//
// x: lo.x and lo.y; y: lo.z and TOP - hi.x; z: TOP - hi.y and TOP - hi.z, the first in the low half; w: mask bits. So every
// field of a box that bounds another is the smaller one, and the top bit of each half is free for a borrow.
const CELL_TOP: u32 = 0x7fffu;
const CELL_GUARDS: u32 = 0x80008000u;
// Overlaps nothing that ends below the grid's last cell; all mask bits set.
const CELLS_NONE: vec4u = vec4u(0x7fff7fffu, 0x7fff7fffu, 0x7fff7fffu, 3u);

fn packCells(lo: vec3u, hi: vec3u, bits: u32) -> vec4u {
  let far = CELL_TOP - hi;
  return vec4u(lo.x | (lo.y << 16u), lo.z | (far.x << 16u), far.y | (far.z << 16u), bits);
}

// What a box in cells must not exceed, in any field, to overlap this one; guard bits set.
fn limitOf(packed: vec3u) -> vec3u {
  let far = CELL_TOP - vec3u(packed.x & 0xffffu, packed.x >> 16u, packed.y & 0xffffu);
  let hi = CELL_TOP - vec3u(packed.y >> 16u, packed.z & 0xffffu, packed.z >> 16u);
  return vec3u(hi.x | (hi.y << 16u), hi.z | (far.x << 16u), far.y | (far.z << 16u)) | vec3u(CELL_GUARDS);
}

// Subtracts six fields at once: a guard bit is borrowed where a field exceeds its limit.
fn overlapsInCells(limit: vec3u, packed: vec3u) -> bool {
  let d = limit - packed;
  return (d.x & d.y & d.z & CELL_GUARDS) == CELL_GUARDS;
}

// The smaller of two fields, in each half.
fn smallerHalves(a: vec3u, b: vec3u) -> vec3u {
  let isOver = (((a | vec3u(CELL_GUARDS)) - b) & vec3u(CELL_GUARDS)) >> vec3u(15u);
  let chosen = isOver * CELL_TOP;
  return (b & chosen) | (a & ~chosen);
}

fn joinedCells(a: vec4u, b: vec4u) -> vec4u {
  return vec4u(smallerHalves(a.xyz, b.xyz), a.w & b.w);
}
