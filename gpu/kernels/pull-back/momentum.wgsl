// Nesterov's extrapolation between two sweeps of the pull-back, z ← z + β (z − z_last): y is linear in the multipliers, so y, c
// and λ are extrapolated alike; c and λ where they are swept next (pull-back/edge-limits.wgsl, warm-sweep.wgsl), y here, one
// thread a vertex. `turn`: parts of ⟨y_from − y, y − y_last⟩, which is positive where the momentum points away from where the
// sweep went; then closeSweep begins the momentum anew, without which the iteration diverges. y_from is the point that the
// sweep began with.
//
// After pass 0, when the rows have taken what was kept for them, `extrapolate` also sets the multipliers of all pairs to 0
// (pull-back/multipliers.wgsl).
//
// In: control. In and out: y, yFrom, yLast. Out: sums, activeVertices, kept. Mirrors addMomentum
// (src/solver/cpu/momentum.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<uniform> control: ControlView;
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> yFrom: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> yLast: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> sums: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> activeVertices: array<u32>;
@group(0) @binding(7) var<storage, read_write> kept: array<f32>;
// #include "pull-back/sums.wgsl"
// #include "pull-back/momentum-of-vertex.wgsl"
// #include "pull-back/active-words.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn turn(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  var own = 0.0;
  let stride = WORKGROUP_SIZE * groups.x * groups.y;
  for (var i = linearIndex(group, groups, local); i < parameters.vertexCount; i += stride) {
    own += turnOf(i);
  }
  let sum = sumOfGroup(vec4f(own, 0.0, 0.0, 0.0), local);
  if (local == 0u) {
    sums[foldedGroup(group, groups)] = sum;
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn extrapolate(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  let pairs = select(0u, control.pairCount, control.sweepsDone == 1u);
  for (var p = i; p < pairs; p += WORKGROUP_SIZE * groups.x * groups.y) {
    kept[p] = 0.0;
  }
  if (i >= parameters.vertexCount) {
    return;
  }
  extrapolateVertex(i);
  // After pass 0 no vertex is active (few/sweeps.wgsl).
  if (control.sweepsDone == 1u && i <= markWords()) {
    activeVertices[i] = 0u;
  }
}
