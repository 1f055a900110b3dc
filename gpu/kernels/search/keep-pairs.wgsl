// Taking over pairs of the old P in a partial search (mirrors PairSet.keepOnly in src/solver/cpu/pair-set.ts): markKept marks
// those all of whose vertices keep their boxes; after the prefix sum gatherKept copies them, in order, to where steps keep
// what they compute (nothing of it is valid during a search), and settlePairs copies them back to the front of P and
// clears the geometry of every pair, old and new.
//
// All copies go through u32: a float32 load may change bits that are no number.
//
// In: control, mask of the vertices, the pair buffers. Out: offsets (markKept), the pair buffers. One thread a pair.
// #include "common/dispatch.wgsl"

@group(0) @binding(0) var<uniform> control: SearchControl;
// u32[oldPairs + queries]: 1 = kept; after the prefix sum the place of a kept pair
@group(0) @binding(1) var<storage, read_write> offsets: array<u32>;
// i32[4P] vertex slots, -1 where unused
@group(0) @binding(2) var<storage, read_write> pairVertex: array<vec4i>;
// u32[P]
@group(0) @binding(3) var<storage, read_write> pairInfo: array<u32>;
// f32[4P] normal and delta_p, as bits
@group(0) @binding(4) var<storage, read_write> pairNormal: array<vec4u>;
// f32[P] of the steps, which none of them needs during a search; here room for pairInfo
@group(0) @binding(5) var<storage, read_write> pairDistance: array<u32>;
// Memory of the steps (common/pair.wgsl) as well; here room for pairVertex, pairNormal
@group(0) @binding(6) var<storage, read_write> keptVertex: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> keptNormal: array<vec4u>;
// u32[V]
@group(0) @binding(8) var<storage, read> mask: array<u32>;

// of pairInfo, as in common/pair.wgsl

fn isKept(v: i32) -> bool {
  return v < 0 || (mask[max(v, 0)] & KEPT) != 0u;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn markKept(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = WORKGROUP_SIZE * foldedGroup(workgroup, dispatched) + thread;
  if (p >= control.oldPairs) {
    return;
  }
  let v = pairVertex[p];
  offsets[p] = select(0u, 1u, isKept(v.x) && isKept(v.y) && isKept(v.z) && isKept(v.w));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gatherKept(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = WORKGROUP_SIZE * foldedGroup(workgroup, dispatched) + thread;
  if (p >= control.oldPairs || offsets[p] == offsets[p + 1u]) {
    return;
  }
  let to = offsets[p];
  keptVertex[to] = vec4u(pairVertex[p]);
  keptNormal[to] = pairNormal[p];
  pairDistance[to] = pairInfo[p];
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
  if (p < control.kept) {
    pairVertex[p] = vec4i(keptVertex[p]);
    pairNormal[p] = keptNormal[p];
    // Without the stamp: of the geometry nothing is current.
    pairInfo[p] = pairDistance[p] & KIND_MASK;
  }
  pairDistance[p] = 0u;
}
