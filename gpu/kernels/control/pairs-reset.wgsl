// A request that reuses P measures δ_p anew from its own start. One thread a pair.
//
// In: control. In and out: pairNormal.w. No counterpart on the CPU.
// #include "common/dispatch.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read> control: ControlView;
@group(0) @binding(2) var<storage, read_write> pairNormal: array<vec4f>;

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
