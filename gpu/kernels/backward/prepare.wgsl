// Opens the contact part of a step, one thread a vertex: which vertices move (y ≠ x after the edge sweep), which are movable,
// which are stuck; empties the lists of contacts.
//
// In: start, x, y, inverseMass, progress.stuck. Out: vertexStep.flags, motions (common/motions.wgsl), lists. Mirrors
// markMoving (src/solver/cpu/motion.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read> start: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> y: array<vec4f>;
@group(0) @binding(4) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(5) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(6) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(7) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(8) var<storage, read_write> motions: array<vec4f>;
// #include "backward/prepare-vertex.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn prepare(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i < parameters.vertexCount) {
    prepareVertex(i);
  }
}
