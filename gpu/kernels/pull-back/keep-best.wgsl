// best ← x, with its shortfalls, one thread a vertex: the state that the pull-back begins with. pull-back/rebuild.wgsl
// keeps later ones. Mirrors PullBackStep.keep (src/solver/cpu/pull-back-step.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> best: array<u32>;
@group(0) @binding(3) var<storage, read_write> shortfalls: array<u32>;
// #include "pull-back/keep-state.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn keepBest(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i < parameters.vertexCount) {
    keepState(i);
  }
}
