// Puts what the host reads of a run beside its positions side by side, one thread a vertex: the residual, then the pair that
// limited the vertex last. The two are a word each in structs of four, and reading those would take three times as long.
//
// In: progress, vertexStep. Out: packed: u32[2V] residuals as bits, then limiters; it is the memory of `next`, of which nothing is
// valid when a run has ended. No counterpart on the CPU.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read> progress: array<VertexProgressView>;
@group(0) @binding(2) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(3) var<storage, read_write> packed: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn packAnswer(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  packed[i] = bitcast<u32>(progress[i].residual);
  packed[parameters.vertexCount + i] = vertexStep[i].limiter;
}
