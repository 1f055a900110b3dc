// Marks the vertices that are relevant to the decision to search, one thread a vertex: the unfinished (r ≥ ε), and every vertex of
// a pair that bounds one, for a vertex that is pushed aside must not stop at the face of its box.
//
// In: vertexStep.limiter, pairVertex, progress.residual. Out: progress.relevant. Mirrors ProgressWatch.#markRelevant
// (src/solver/cpu/progress-watch.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(2) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(3) var<storage, read_write> progress: array<VertexProgress>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn concern(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount || !(progress[i].residual >= parameters.epsilon)) {
    return;
  }
  atomicStore(&progress[i].relevant, 1u);
  let p = vertexStep[i].limiter;
  if (p == NO_PAIR) {
    return;
  }
  let ids = pairVertex[p];
  for (var s = 0u; s < 4u; s++) {
    if (ids[s] >= 0) {
      atomicStore(&progress[ids[s]].relevant, 1u);
    }
  }
}
