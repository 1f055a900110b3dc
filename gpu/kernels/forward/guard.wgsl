// Opens the forward step, one thread a vertex: which vertices move, and α from what P does not contain (Eq. 14): the trust box,
// or the radius in which P is complete.
//
//   BOXES   α = 1 iff y_i ∈ B_i by exact comparison, else the share of y_i − x_i that stays inside, times FACE_SHARE
//   RADIUS  |α (y_i − x_i)| ≤ γ (D − floor)/2
//
// A projection may have moved y out of the range of float32: such a vertex receives its target again. y is guidance, so this
// costs quality and no safety.
//
// In: x, goal, box. In and out: y. Out: vertexStep, motions (common/motions.wgsl). Mirrors Forward.#guard, boxBound and
// restoreOverflow (src/solver/cpu/forward.ts, boxes.ts, motion.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
// #include "common/range.wgsl"
// #include "common/box-share.wgsl"
@group(0) @binding(1) var<storage, read> control: ControlView;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4u>;
@group(0) @binding(4) var<storage, read> goal: array<u32>;
@group(0) @binding(5) var<storage, read> box: array<f32>;
@group(0) @binding(6) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(7) var<storage, read_write> motions: array<vec4f>;
// #include "forward/guard-vertex.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn guard(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i < parameters.vertexCount) {
    guardVertex(i);
  }
}
