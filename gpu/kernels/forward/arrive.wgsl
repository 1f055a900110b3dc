// The last step of kinematic vertices, around the kernels of the forward step, one thread a vertex:
//
//   aimPrescribed   y ← x, but y_i ← y*_i for the kinematic vertices that have used up their motion (r < ε) and are not there
//   keepWhole       after the bounds: α_i ← 0 where α_i < 1, for a share of the way would only use up gaps. It only lowers α, so
//                   that write, check and commit are as safe as in any step (docs/method.md, S2 to S5)
//   settleArrived   after the commit: r_i ← 0 for what moved the whole way
//
// Guard and commit overwrite limiters and residuals of the vertices that do not move; windowStart keeps both meanwhile:
// Algorithm 1 has ended, and with it its windows of steps.
//
// In: x, goal, inverseMass. In and out: y, vertexStep, progress, windowStart, control. Mirrors aimAtPrescribed, allOrNothing and
// settleArrived (src/solver/cpu/arrive.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
// Words, not floats: copies must be bit copies (docs/method.md, S8).
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4u>;
@group(0) @binding(4) var<storage, read> goal: array<u32>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(6) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(7) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(8) var<storage, read_write> windowStart: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn aimPrescribed(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  let isAimed = inverseMass[i] == 0.0 && progress[i].residual < parameters.epsilon;
  for (var c = 0u; c < axes(); c++) {
    y[i][c] = select(x[3u * i + c], goal[3u * i + c], isAimed);
  }
  windowStart[3u * i] = atomicLoad(&vertexStep[i].limiter);
  windowStart[3u * i + 1u] = bitcast<u32>(progress[i].residual);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn keepWhole(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i < parameters.vertexCount && atomicLoad(&vertexStep[i].alpha) != ONE_BITS) {
    atomicStore(&vertexStep[i].alpha, 0u);
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn settleArrived(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  let isMoving = (atomicLoad(&vertexStep[i].flags) & MOVING) != 0u;
  let isThere = isMoving && atomicLoad(&vertexStep[i].alpha) == ONE_BITS;
  let r = select(bitcast<f32>(windowStart[3u * i + 1u]), 0.0, isThere);
  progress[i].residual = r;
  atomicStore(&vertexStep[i].limiter, windowStart[3u * i]);
  // The commit has counted smaller residuals than these, or the same, and none of ε and more.
  atomicMax(&control.residualBits, bitcast<u32>(r) & 0x7fffffffu);
  if (r >= parameters.epsilon) {
    atomicAdd(&control.unfinishedCount, 1u);
  }
  if (isThere) {
    atomicAdd(&control.movingCount, 1u);
  }
}
