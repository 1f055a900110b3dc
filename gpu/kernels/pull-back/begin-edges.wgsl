// Opens the pull-back for the edge limits, one thread an edge: multipliers 0, no edge acts. Beside the multiplier before an
// edge keeps the number of its colour. The multiplier lies beside R, in place of the direction that the edge had in Algorithm
// 1, and the list of held edges lies where λ was.
//
// In: edgeColours. In and out: edgeRow. Out: edgePush, edgeActive, heldEdges. Mirrors the constructor of EdgeLimits
// (src/solver/cpu/edge-limits.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<uniform> pullBack: PullBack;
@group(0) @binding(2) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(3) var<storage, read_write> edgePush: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> edgeActive: array<u32>;
@group(0) @binding(5) var<storage, read_write> heldEdges: array<u32>;
@group(0) @binding(6) var<storage, read_write> edgeRow: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn beginEdges(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let e = linearIndex(group, groups, local);
  if (e >= parameters.edgeCount) {
    return;
  }
  var colour = 0u;
  while (edgeColours[colour + 1u] <= e) {
    colour++;
  }
  edgePush[e] = vec4f(0.0, 0.0, 0.0, f32(colour));
  edgeRow[e] = vec4f(0.0, 0.0, 0.0, edgeRow[e].w);
  // Counts of the colours, of which none is empty.
  if (e < pullBack.colours) {
    edgeActive[e] = 0u;
    heldEdges[e] = 0u;
  }
}
