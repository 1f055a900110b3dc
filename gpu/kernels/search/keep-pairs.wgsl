// Taking over pairs of the old P in a partial search (mirrors PairSet.keepOnly in src/solver/cpu/pair-set.ts):
// element-boxes.wgsl marks those all of whose vertices keep their boxes; after the prefix sum gatherKept copies them,
// in order, to where steps keep what they compute (nothing of it is valid during a search), and settlePairs copies them
// back to the front of P and clears the geometry of every pair, old and new. In the word of the distance, a pair that
// is taken over has its origin, which is its old place in P plus 1, and a new pair has 0. What steps keep for each pair
// moves by these origins (pull-back/carry-multipliers.wgsl). No step reads a distance before it has measured one.
//
// All copies go through u32: a float32 load may change the bits of a NaN.
//
// In: control, offsets, the pair buffers. Out: the pair buffers, pairDistance = origins. One thread a pair.
// #include "search/marks.wgsl"

@group(0) @binding(0) var<uniform> control: SearchControl;
// search/marks.wgsl
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
// i32[4P] vertex slots, -1 where unused
@group(0) @binding(2) var<storage, read_write> pairVertex: array<vec4i>;
// u32[P]
@group(0) @binding(3) var<storage, read_write> pairInfo: array<u32>;
// f32[4P] normal and delta_p, as bits
@group(0) @binding(4) var<storage, read_write> pairNormal: array<vec4u>;
// f32[P] of the steps, which none of them needs during a search; here the origins
@group(0) @binding(5) var<storage, read_write> pairDistance: array<u32>;
// Candidates and contacts of the steps (gpu/search/device-search.ts); here room for pairVertex with pairInfo, and for pairNormal
@group(0) @binding(6) var<storage, read_write> keptVertex: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> keptNormal: array<vec4u>;

// The kind of a pair travels in the top bits of its first vertex, which every pair has: with 12 bytes a vertex no buffer holds
// 2^30.
const KIND_ABOVE: u32 = 30u;
const VERTEX_BELOW: u32 = 0x3fffffffu;

@compute @workgroup_size(WORKGROUP_SIZE)
fn gatherKept(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = WORKGROUP_SIZE * foldedGroup(workgroup, dispatched) + thread;
  if (p >= control.oldPairs) {
    return;
  }
  let block = p / MARKED_PAIRS;
  let bit = 1u << (p % MARKED_PAIRS);
  let marks = offsets[control.entries + block];
  if ((marks & bit) == 0u) {
    return;
  }
  let to = offsets[block] + countOneBits(marks & (bit - 1u));
  let ids = vec4u(pairVertex[p]);
  keptVertex[to] = vec4u(ids.x | ((pairInfo[p] & KIND_MASK) << KIND_ABOVE), ids.yzw);
  keptNormal[to] = pairNormal[p];
  pairDistance[to] = p + 1u;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn settlePairs(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = WORKGROUP_SIZE * foldedGroup(workgroup, dispatched) + thread;
  if (p >= control.demand) {
    return;
  }
  if (p >= control.kept) {
    pairDistance[p] = 0u;
    return;
  }
  let ids = keptVertex[p];
  pairVertex[p] = vec4i(vec4u(ids.x & VERTEX_BELOW, ids.yzw));
  pairNormal[p] = keptNormal[p];
  // Without the stamp: of the geometry nothing is current.
  pairInfo[p] = ids.x >> KIND_ABOVE;
}
