// A round of the contact sweep for more contacts than one workgroup should take, one thread a contact: `open` once a
// sweep, then `claims` and `projects` in turn; sweep-tail.wgsl does what is left. See common/sweep-row.wgsl.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
// #include "common/sweep-row.wgsl"

@compute @workgroup_size(64)
fn claims(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n < atomicLoad(&control.rowCount) && (rows[n] & DONE) == 0u) {
    claim(rows[n]);
  }
}

@compute @workgroup_size(64)
fn projects(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n < atomicLoad(&control.rowCount) && (rows[n] & DONE) == 0u && project(rows[n])) {
    rows[n] |= DONE;
  }
}
