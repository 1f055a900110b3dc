// One share of the way to y* for all vertices of a component, the least of theirs, one workgroup a component: y ← x + t (y* −
// x). Follows pull-back/rebuild.wgsl, which leaves the share of each vertex by itself in pull.share.
//
// In: strainMembers, x, goal. In and out: pull (share), strainShares. Out: y. Mirrors ComponentShares.settlePaces
// (src/solver/cpu/component-shares.ts).
// #include "common/dispatch.wgsl"
@group(0) @binding(0) var<uniform> control: ControlView;
@group(0) @binding(1) var<storage, read> strainMembers: array<u32>;
@group(0) @binding(2) var<storage, read_write> strainShares: array<StrainShares>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(5) var<storage, read> goal: array<f32>;
@group(0) @binding(6) var<storage, read_write> pull: array<VertexPull>;
// #include "strain/members.wgsl"
// #include "pull-back/place.wgsl"

@compute @workgroup_size(TAIL_THREADS)
fn settlePaces(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = componentOf(group, groups);
  if (c == NO_COMPONENT) {
    return;
  }
  let end = strainMembers[c + 1u];
  var pace = 1.0;
  for (var n = strainMembers[c] + local; n < end; n += TAIL_THREADS) {
    pace = min(pace, pull[strainMembers[n]].share);
  }
  pace = -mostOfThreads(-pace, local);
  for (var n = strainMembers[c] + local; n < end; n += TAIL_THREADS) {
    let v = strainMembers[n];
    let k = 3u * v;
    let to = placeBetween(vec3f(x[k], x[k + 1u], x[k + 2u]), vec3f(goal[k], goal[k + 1u], goal[k + 2u]), pace);
    y[v] = vec4f(to, 0.0);
    pull[v].share = pace;
  }
  if (local == 0u) {
    strainShares[c].lastPace = strainShares[c].pace;
    strainShares[c].pace = pace;
  }
}
