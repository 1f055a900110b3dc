// Carries the multipliers that a step has kept for each pair across a search that renewed some of the boxes, one thread
// a pair of the new P. The search has stored where each pair was (search/keep-pairs.wgsl). `gatherMultipliers` reads λ
// there, 0 for a new pair; `settleMultipliers` writes it to where the pair is now. Two
// dispatches, because old and new places overlap.
//
// In: pairDistance (origins), control. In and out: kept; carried, room of the step. Mirrors PairSet.keepOnly
// (src/solver/cpu/pair-set.ts).
// #include "common/dispatch.wgsl"
@group(0) @binding(1) var<uniform> control: ControlView;
@group(0) @binding(2) var<storage, read> pairDistance: array<u32>;
@group(0) @binding(3) var<storage, read_write> kept: array<f32>;
// f32[P]
@group(0) @binding(4) var<storage, read_write> carried: array<f32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn gatherMultipliers(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  if (p >= control.pairCount) {
    return;
  }
  let origin = pairDistance[p];
  var lambda = 0.0;
  if (origin > 0u) {
    lambda = kept[origin - 1u];
  }
  carried[p] = lambda;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn settleMultipliers(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  if (p < control.pairCount) {
    kept[p] = carried[p];
  }
}
