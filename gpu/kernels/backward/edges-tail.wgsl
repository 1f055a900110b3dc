// The small colours at the end of the edge length sweep, one after the other in one workgroup. See backward/edge-projection.wgsl.
// #include "backward/edge-projection.wgsl"
// u32[colours + 1] first edge of each colour, in sweep order
@group(0) @binding(7) var<storage, read> edgeColours: array<u32>;

// The largest group that every implementation allows: the more threads, the fewer turns.
const THREADS: u32 = 256u;

@compute @workgroup_size(THREADS)
fn edgesTail(@builtin(local_invocation_index) local: u32) {
  for (var colour = edgeRange.firstColour; colour < edgeRange.endColour; colour++) {
    // Before a colour and not behind it: what stands before the first barrier is compiled twice by software drivers.
    storageBarrier();
    let end = edgeColours[colour + 1u];
    for (var e = edgeColours[colour] + local; e < end; e += THREADS) {
      projectEdge(e, edgeRange.isFirst == 1u);
    }
  }
}
