// y at the beginning of a step of the pull-back, one thread a vertex. `rebuild`: from y* (pull-back/rebuilt.wgsl). `holdStill`,
// where only edges are shortened: y ← x. Where the last step has reached the best state so far, it is kept before.
//
// In: x, goal, inverseMass, control. In and out: pull, shortfalls. Out: y, best. Mirrors Paces.rebuild and PullBackStep.keep
// (src/solver/cpu/paces.ts, pull-back-step.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4u>;
@group(0) @binding(3) var<storage, read> goal: array<f32>;
@group(0) @binding(4) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(5) var<storage, read_write> pull: array<VertexPull>;
@group(0) @binding(6) var<uniform> pullBack: PullBack;
@group(0) @binding(7) var<storage, read_write> shortfalls: array<f32>;
@group(0) @binding(8) var<storage, read_write> best: array<u32>;
@group(0) @binding(9) var<uniform> control: ControlView;
// #include "pull-back/keep-state.wgsl"
// #include "pull-back/rebuilt.wgsl"

// Keeps the state where it is the best; whether the run goes on with it.
fn goesOn(i: u32) -> bool {
  if (control.isBest == 1u) {
    keepState(i);
  }
  return control.state == RUNNING;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn rebuild(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount || !goesOn(i)) {
    return;
  }
  var here = vec3f(0.0);
  var wanted = vec3f(0.0);
  for (var c = 0u; c < axes(); c++) {
    here[c] = bitcast<f32>(x[3u * i + c]);
    wanted[c] = goal[3u * i + c];
  }
  let rebuilt = shareOf(here, wanted, inverseMass[i] == 0.0 || pull[i].unpushed == FREE_STEPS);
  let to = placeBetween(here, wanted, rebuilt.share);
  y[i] = vec4u(bitcast<vec3u>(to), 0u);
  pull[i].share = rebuilt.share;
  pull[i].farAway = rebuilt.farAway;
  // Contacts count from the first search of the phase on.
  shortfalls[i] = 0.0;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn holdStill(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount || !goesOn(i)) {
    return;
  }
  for (var c = 0u; c < axes(); c++) {
    y[i][c] = x[3u * i + c];
  }
  pull[i].farAway = 0.0;
}
