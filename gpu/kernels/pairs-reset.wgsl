// Small passes over P, one thread a pair. `forget`: a request that takes over P measures δ_p anew, from its own start.
// `countKinds`: how many pairs there are of each kind, for the report.
//
// In: pairInfo. In and out: pairNormal.w, control.
// #include "common/dispatch.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> pairInfo: array<u32>;
@group(0) @binding(3) var<storage, read_write> pairNormal: array<vec4f>;

var<workgroup> kinds: array<atomic<u32>, 4>;

@compute @workgroup_size(64)
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

@compute @workgroup_size(64)
fn countKinds(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  if (p < control.pairCount) {
    atomicAdd(&kinds[pairInfo[p] & KIND_MASK], 1u);
  }
  workgroupBarrier();
  if (local == 0u) {
    atomicAdd(&control.vertexTriangle, atomicLoad(&kinds[VT]));
    atomicAdd(&control.edgeEdge, atomicLoad(&kinds[EE]));
    atomicAdd(&control.vertexEdge, atomicLoad(&kinds[VE]));
    atomicAdd(&control.vertexVertex, atomicLoad(&kinds[VV]));
  }
}
