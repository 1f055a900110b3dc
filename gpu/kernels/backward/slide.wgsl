// Lets stuck vertices slide, one thread a vertex: the component of y_i − x_i that would cross the half-space of a candidate pair
// is removed, pair after pair in the order of P; the rest of the motion is free. The half-space bound scales a
// vertex's whole motion by one α, so that at the floor a small approaching part stops the tangential part as well. y is
// guidance; the bound and the check that follow keep the path safe.
//
// In: x, vertexStep.flags, pairs, lists, candidates. In and out: y; contacts: the list of a stuck vertex, whose candidates
// become their entries in the order of P. Nothing reads the list after this. Mirrors Slide.apply (src/solver/cpu/slide.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4u>;
@group(0) @binding(3) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(7) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(8) var<storage, read_write> contacts: array<u32>;
// #include "backward/slide-vertex.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn slide(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i < parameters.vertexCount && (vertexStep[i].flags & STUCK) != 0u) {
    slideVertex(i);
  }
}
