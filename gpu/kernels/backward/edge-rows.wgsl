// Edge length constraints linearised at the goal y* (Eq. 13), one thread an edge, once a request:
//
//   c = σ L − u·(y_i − y_j) ≥ 0,   u = (y*_i − y*_j) / |y*_i − y*_j|
//
// with L = |y*_i − y*_j|, or the length of the edge at rest where it has one.
//
// In: goal, edgeEnds (in sweep order), edgeRest (negative = none; empty = no edge has one). Out: edgeRow (u, σ L; −1 = no
// constraint). Mirrors EdgeLengths.linearise (src/solver/cpu/edges.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/lengths.wgsl"
@group(0) @binding(1) var<storage, read> goal: array<f32>;
@group(0) @binding(2) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> edgeRow: array<vec4f>;
@group(0) @binding(4) var<storage, read> edgeRest: array<f32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn edgeRows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let e = linearIndex(group, groups, local);
  if (e >= parameters.edgeCount) {
    return;
  }
  let i = 3u * edgeEnds[e].x;
  let j = 3u * edgeEnds[e].y;
  var d = vec3f(0.0);
  for (var c = 0u; c < axes(); c++) {
    d[c] = goal[i + c] - goal[j + c];
  }
  var length = lengthOf(d);
  if (parameters.hasRest == 1u && edgeRest[e] >= 0.0) {
    length = edgeRest[e];
  }
  edgeRow[e] = vec4f(directionOf(d), select(-1.0, parameters.sigma * length, length > 0.0));
}
