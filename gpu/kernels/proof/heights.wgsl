// Lets an adapter prove its heights (docs/method.md, S10): measureAnyHeights of common/long-heights.wgsl, the function that every
// kernel of the forward step calls, over each pair's four points as each kind of pair; one thread a pair. Only this entry
// point belongs to the proof.
//
// In: parameters.vertexCount (four points a pair), points, normals. Out: answers, eight float32 a pair and kind: h_0 … h_3, lo,
// hi, gap, e.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/corners.wgsl"
// #include "common/long-heights.wgsl"

// float32[12 · pairs] four points of three coordinates each
@group(0) @binding(1) var<storage, read> points: array<f32>;
// float32[3 · pairs]
@group(0) @binding(2) var<storage, read> normals: array<f32>;
@group(0) @binding(3) var<storage, read_write> answers: array<f32>;

fn pointOf(k: u32) -> vec3f {
  return vec3f(points[3u * k], points[3u * k + 1u], points[3u * k + 2u]);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn proveHeights(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let pair = linearIndex(group, groups, local);
  if (pair >= parameters.vertexCount / 4u) {
    return;
  }
  let n = vec3f(normals[3u * pair], normals[3u * pair + 1u], normals[3u * pair + 2u]);
  let k = 4u * pair;
  let corners = Corners(pointOf(k), pointOf(k + 1u), pointOf(k + 2u), pointOf(k + 3u));
  for (var kind = 0u; kind < KIND_COUNT; kind++) {
    let heights = measureAnyHeights(kind, corners, n);
    let at = 8u * (KIND_COUNT * pair + kind);
    for (var slot = 0u; slot < 4u; slot++) {
      answers[at + slot] = heights.h[slot];
    }
    answers[at + 4u] = heights.lo;
    answers[at + 5u] = heights.hi;
    answers[at + 6u] = heights.gap;
    answers[at + 7u] = heights.error;
  }
}
