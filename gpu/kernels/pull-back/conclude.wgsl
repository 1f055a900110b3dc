// At the end of a run of the pull-back, one thread a vertex: r of a dynamic vertex is 1 where the vertex is not settled (held
// where the run stalled; still wanting to move where it was ended), else 0; a kinematic vertex keeps r of Algorithm 1.
//
// In: pull, inverseMass. In and out: progress.residual, control. Mirrors Residuals.settle (src/solver/cpu/motion.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/append.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(3) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(4) var<storage, read> pull: array<VertexPull>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn conclude(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  let isThere = i < parameters.vertexCount;
  var r = 0.0;
  if (isThere) {
    let counted = select(select(DID_WANT, WAS_HELD, control.state == STALLED), 0u, control.state == CONVERGED);
    let unsettled = select(0.0, 1.0, (pull[i].lastPull & counted) != 0u);
    r = select(unsettled, pull[i].before, inverseMass[i] == 0.0);
    progress[i].residual = r;
  }
  raise(&control.residualBits, bitcast<u32>(r) & 0x7fffffffu, isThere);
  countUp(&control.unfinishedCount, isThere && r >= parameters.epsilon);
}
