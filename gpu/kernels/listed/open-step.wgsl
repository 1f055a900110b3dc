// Opens a step of Algorithm 1 that sweeps its edges by lists. One thread an edge: λ = 0, and the list of those that act on y as
// it is. One thread a vertex: what backward/prepare.wgsl does; for the vertices that the first sweep over edges moves,
// listed/sweeps.wgsl compares x and y again.
//
// In: start, x, y, inverseMass, progress.stuck, edgeEnds, edgeRow, edgeColours. Out: edgeLambda, edgeLists, vertexStep.flags,
// motions, lists. Mirrors EdgeLengths.sweep and markMoving (src/solver/cpu/edges.ts, motion.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read> start: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
// Not written here, but by project-edge.wgsl, whose functions are these.
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(4) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(5) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(6) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(7) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(8) var<storage, read_write> motions: array<vec4f>;
@group(0) @binding(9) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(10) var<storage, read> edgeRow: array<vec4f>;
@group(0) @binding(11) var<storage, read_write> edgeLambda: array<f32>;
@group(0) @binding(12) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(13) var<storage, read_write> edgeLists: array<atomic<u32>>;
// #include "backward/prepare-vertex.wgsl"
// #include "backward/project-edge.wgsl"
// #include "listed/edge-lists.wgsl"

fn listEdge(e: u32) {
  let row = edgeRow[e];
  if (row.w < 0.0) {
    return;
  }
  edgeLambda[e] = 0.0;
  if (edgePushOf(e, row, 0.0).change != 0.0) {
    enlist(e);
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn openStep(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n < parameters.vertexCount) {
    prepareVertex(n);
  }
  if (n < parameters.edgeCount) {
    listEdge(n);
  }
}
