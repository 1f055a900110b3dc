// A round of the contact sweep for more contacts than one workgroup should take, one thread a contact of the queue;
// backward/sweep-open.wgsl goes before it, backward/sweep-tail.wgsl does what is left. See backward/contact-projection.wgsl.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
// #include "backward/contact-projection.wgsl"

@compute @workgroup_size(64)
fn sweepRound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = control.queueBegin + linearIndex(group, groups, local);
  if (n < control.queueEnd) {
    project(n);
  }
}
