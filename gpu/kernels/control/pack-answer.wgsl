// Puts what the host reads of a run beside its positions side by side, one thread a vertex: the residual, then the pair that
// limited the vertex last. The two are a word each in structs of four, and reading those would take three times as long.
//
// `countAndPack` also counts the pairs of each kind, for the report, where P is valid.
//
// In: progress, vertexStep, pairInfo. In and out: control. Out: packed: u32[2V] residuals as bits, then limiters; it is the
// memory of `next`, of which nothing is valid when a run has ended. No counterpart on the CPU.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read> progress: array<VertexProgressView>;
@group(0) @binding(2) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(3) var<storage, read_write> packed: array<u32>;
@group(0) @binding(4) var<storage, read_write> control: Control;
@group(0) @binding(5) var<storage, read> pairInfo: array<u32>;

// Threads that count pairs: enough to hide the latency of memory, few enough for all to add to four sums.
const MOST_COUNTERS: u32 = 16384u;

fn pack(i: u32) {
  packed[i] = bitcast<u32>(progress[i].residual);
  packed[parameters.vertexCount + i] = vertexStep[i].limiter;
}

// Each thread counts every so-many-th pair by itself: a sum within a workgroup would need a barrier, which costs a software
// adapter fifty times as much as the counting.
fn countKinds(thread: u32, threads: u32) {
  var kinds = vec4u(0u);
  for (var p = thread; p < control.pairCount; p += threads) {
    kinds[pairInfo[p] & KIND_MASK] += 1u;
  }
  if (kinds[VT] > 0u) {
    atomicAdd(&control.vertexTriangle, kinds[VT]);
  }
  if (kinds[EE] > 0u) {
    atomicAdd(&control.edgeEdge, kinds[EE]);
  }
  if (kinds[VE] > 0u) {
    atomicAdd(&control.vertexEdge, kinds[VE]);
  }
  if (kinds[VV] > 0u) {
    atomicAdd(&control.vertexVertex, kinds[VV]);
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn packAnswer(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i < parameters.vertexCount) {
    pack(i);
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn countAndPack(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i < parameters.vertexCount) {
    pack(i);
  }
  let counters = min(MOST_COUNTERS, WORKGROUP_SIZE * groups.x * groups.y);
  if (i < counters) {
    countKinds(i, counters);
  }
}
