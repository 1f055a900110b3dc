// Checks that the written positions keep their half-spaces, one thread a pair of the list that bound.wgsl has bounded
// (docs/method.md, S4 and S5). With the stored normal, limits and the origin of x:
//
//   side a: h' ≥ lo − ext_a + e',   side b: h' ≤ hi + ext_b − e'
//
// A vertex that fails is marked and returns to x_i in commit.wgsl. Its return never breaks another pair, so that there is no
// cascade: src/solver/cpu/forward.ts derives this from e, which is at least twice the error of a height. Also names the first
// pair that gave each vertex its α.
//
// In: x, next, limits, bounds, pairVertex, pairNormal. Out: vertexStep.flags, vertexStep.limiter. Mirrors checkPairs
// (src/solver/cpu/check.ts).
// #include "common/dispatch.wgsl"
// #include "common/pair.wgsl"
// #include "common/corners.wgsl"
// #include "common/long-heights.wgsl"
@group(0) @binding(1) var<uniform> control: ControlView;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> next: array<f32>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read> limits: array<Limit>;
@group(0) @binding(7) var<storage, read> bounds: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> vertexStep: array<VertexStep>;

// Whether a corner at this height keeps its half-space, whatever its rounding.
fn holds(height: f32, error: f32, limit: Limit, isSideA: bool) -> bool {
  return select(height <= limit.high - error, height >= limit.low + error, isSideA);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn check(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let place = linearIndex(group, groups, local);
  if (place >= control.activeCount) {
    return;
  }
  let limit = limits[place];
  let bound = bounds[place];
  let p = pairOf(limit.entry);
  let kind = kindOf(limit.entry);
  let ids = pairVertex[p];
  let corners = cornersOf(kind);
  let sideA = sideAOf(kind);
  let n = pairNormal[p].xyz;
  let o = 3u * u32(ids.x);
  let origin = vec3f(x[o], x[o + 1u], x[o + 2u]);
  for (var s = 0u; s < corners; s++) {
    let v = ids[s];
    let bits = atomicLoad(&vertexStep[v].alpha);
    if (bound[s] <= 1.0 && (bitcast<u32>(bound[s]) & 0x7fffffffu) == bits) {
      atomicMin(&vertexStep[v].limiter, p);
    }
    if (bits == 0u || (atomicLoad(&vertexStep[v].flags) & MOVING) == 0u) {
      continue;
    }
    let k = 3u * u32(v);
    let corner = measureCorner(n, vec3f(next[k], next[k + 1u], next[k + 2u]), origin);
    if (!holds(corner.x, max(limit.error, corner.y), limit, s < sideA)) {
      atomicOr(&vertexStep[v].flags, REVERTED);
      atomicMin(&vertexStep[v].limiter, p);
    }
  }
}
