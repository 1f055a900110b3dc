// Parts of Σ max(0, |y_i − y_j| − R_ij)² over every so-many-th edge a thread, in the units of the merit (pull-back/merit.wgsl):
// what a round of sweeps has left of edges over their limits R = σ L*.
//
// In: y, edgeEnds, edgeRow, control. Out: sums. Mirrors EdgeLimits.excess (src/solver/cpu/edge-limits.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/lengths.wgsl"
@group(0) @binding(1) var<uniform> control: ControlView;
@group(0) @binding(2) var<storage, read> y: array<vec4f>;
@group(0) @binding(3) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(4) var<storage, read> edgeRow: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> sums: array<vec4f>;
// #include "pull-back/sums.wgsl"
// #include "pull-back/merit-scale.wgsl"
// #include "pull-back/edge-excess.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn weighLengths(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let scale = meritScale(control.unitBits);
  var own = 0.0;
  let stride = WORKGROUP_SIZE * groups.x * groups.y;
  for (var e = linearIndex(group, groups, local); e < parameters.edgeCount; e += stride) {
    let limit = edgeRow[e].w;
    if (limit < 0.0) {
      continue;
    }
    let apart = scale * (y[edgeEnds[e].x].xyz - y[edgeEnds[e].y].xyz);
    let excess = excessOf(apart, (1.0 + EXCESS_ROUNDING) * (scale * limit));
    own += excess * excess;
  }
  let sum = sumOfGroup(vec4f(own, 0.0, 0.0, 0.0), local);
  if (local == 0u) {
    sums[foldedGroup(group, groups)] = sum;
  }
}
