// One colour of the edge length sweep, one thread an edge: edges of a colour share no vertex that can move, so their order
// does not matter (Eq. 13, method.md 3.2). See backward/edge-projection.wgsl.
// #include "common/dispatch.wgsl"
// #include "backward/edge-projection.wgsl"

@compute @workgroup_size(64)
fn edgesWide(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let e = edgeRange.first + linearIndex(group, groups, local);
  if (e < edgeRange.end) {
    projectEdge(e, edgeRange.isFirst == 1u);
  }
}
