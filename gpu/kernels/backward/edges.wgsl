// Edge length sweep (Eq. 13). The edges of a colour share no movable vertex, so that their order does not matter. `edgesWide`,
// one thread an edge: one colour. `edgesTail`: the small colours at the end, one after the other, in one workgroup.
//
// In: edgeRow, edgeEnds, inverseMass, edgeColours. In and out: y, edgeLambda. Mirrors EdgeLengths.sweep
// (src/solver/cpu/edges.ts).
// #include "common/dispatch.wgsl"
@group(0) @binding(1) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(2) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(3) var<storage, read> edgeRow: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> edgeLambda: array<f32>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(6) var<uniform> edgeRange: EdgeRange;
// u32[colours + 1] first edge of each colour, in sweep order
@group(0) @binding(7) var<storage, read> edgeColours: array<u32>;

// #include "backward/project-edge.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn edgesWide(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let e = edgeRange.first + linearIndex(group, groups, local);
  if (e < edgeRange.end) {
    projectEdge(e, edgeRange.isFirst == 1u);
  }
}

// Every adapter allows this many threads; those that allow more use more (gpu/device/kernel.ts).
override SERIAL_THREADS: u32 = TAIL_THREADS;

@compute @workgroup_size(SERIAL_THREADS)
fn edgesTail(@builtin(local_invocation_index) local: u32) {
  for (var colour = edgeRange.firstColour; colour < edgeRange.endColour; colour++) {
    // The barrier comes before a colour, not after it: software drivers compile twice what precedes the first barrier.
    storageBarrier();
    let end = edgeColours[colour + 1u];
    for (var e = edgeColours[colour] + local; e < end; e += SERIAL_THREADS) {
      projectEdge(e, edgeRange.isFirst == 1u);
    }
  }
}
