// Small passes over P. `forget`, one thread a pair: a request that reuses P measures δ_p anew from its own start. `countKinds`:
// the number of pairs of each kind, for the report.
//
// In: pairInfo. In and out: pairNormal.w, control. No counterpart on the CPU.
// #include "common/dispatch.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> pairInfo: array<u32>;
@group(0) @binding(3) var<storage, read_write> pairNormal: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn forget(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  if (p < control.pairCount && control.steps == 0u) {
    pairNormal[p].w = 0.0;
  }
}

// Each thread counts every so-many-th pair by itself: a sum within a workgroup would need a barrier, which costs a software
// adapter fifty times as much as the counting.
@compute @workgroup_size(WORKGROUP_SIZE)
fn countKinds(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let threads = WORKGROUP_SIZE * groups.x * groups.y;
  var kinds = vec4u(0u);
  for (var p = linearIndex(group, groups, local); p < control.pairCount; p += threads) {
    kinds[pairInfo[p] & KIND_MASK] += 1u;
  }
  if (kinds[VT] > 0u) {
    atomicAdd(&control.vertexTriangle, kinds[VT]);
  }
  if (kinds[EE] > 0u) {
    atomicAdd(&control.edgeEdge, kinds[EE]);
  }
  if (kinds[VE] > 0u) {
    atomicAdd(&control.vertexEdge, kinds[VE]);
  }
  if (kinds[VV] > 0u) {
    atomicAdd(&control.vertexVertex, kinds[VV]);
  }
}
