// Opens a phase of the pull-back, one thread a vertex. `beginPull`: x is the best state so far; no vertex was pushed lately; a
// vertex that is not on its target wants to move. r of Algorithm 1 is set aside, for the steps of the pull-back use its place.
// `restoreBest`, where the shortening of edges begins and at the end of the run: x ← the best state. Before steps in which
// pushed vertices rest none counts as pushed: from another state on, rows may push others.
//
// In: goal, inverseMass. In and out: x, best, progress, pull. Out: windowStart, control.unitBits. Mirrors PullBackStep.begin
// (src/solver/cpu/pull-back-step.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
// Words, not floats: copies must be bit copies (docs/method.md, S8).
@group(0) @binding(2) var<storage, read_write> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> best: array<u32>;
@group(0) @binding(4) var<storage, read> goal: array<f32>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(6) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(7) var<storage, read_write> pull: array<VertexPull>;
// Windows of steps are those of Algorithm 1: from here on it holds the state that the pull-back begins with, for the report.
@group(0) @binding(8) var<storage, read_write> windowStart: array<u32>;
@group(0) @binding(9) var<uniform> pullBack: PullBack;

@compute @workgroup_size(WORKGROUP_SIZE)
fn beginPull(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  var farthest = 0.0;
  for (var k = 3u * i; k < 3u * i + axes(); k++) {
    let here = x[k];
    best[k] = here;
    windowStart[k] = here;
    farthest = max(farthest, abs(bitcast<f32>(here) - goal[k]));
  }
  pull[i].unpushed = FREE_STEPS;
  pull[i].before = progress[i].residual;
  pull[i].lastPull = select(0u, DID_WANT, farthest > 0.0);
  progress[i].residual = select(0.0, 1.0, farthest > 0.0);
  progress[i].stopped = 0u;
  progress[i].stuck = 0u;
  if (inverseMass[i] > 0.0) {
    atomicMax(&control.unitBits, bitcast<u32>(farthest) & 0x7fffffffu);
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn restoreBest(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  for (var k = 3u * i; k < 3u * i + axes(); k++) {
    x[k] = best[k];
  }
  pull[i].unpushed = select(pull[i].unpushed, FREE_STEPS, pullBack.tau == 0.0);
}
