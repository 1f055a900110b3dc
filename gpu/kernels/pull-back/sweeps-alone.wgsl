// What kernels have in common that make sweeps of the pull-back in one workgroup (small/sweeps.wgsl, few/sweeps.wgsl): the
// kernels of edge-limits.wgsl, warm-sweep.wgsl, momentum.wgsl and close-sweep.wgsl one after the other, by the same functions
// and in the same order, so that y has the same bytes.
//
// In: motions, pairVertex, pairNormal, edgeEnds, edgeColours, inverseMass. In and out: y, yFrom, yLast, candidates, contacts,
// edgeRow, edgePush, edgeActive, control.
// #include "backward/queue-bindings.wgsl"
@group(0) @binding(2) var<storage, read> motions: array<vec4f>;
@group(0) @binding(8) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(9) var<storage, read_write> edgeRow: array<vec4f>;
@group(0) @binding(10) var<storage, read_write> edgePush: array<vec4f>;
@group(0) @binding(11) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(12) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(13) var<storage, read_write> edgeActive: array<atomic<u32>>;
@group(0) @binding(14) var<storage, read_write> yFrom: array<vec4f>;
@group(0) @binding(15) var<storage, read_write> yLast: array<vec4f>;
@group(0) @binding(17) var<uniform> pullBack: PullBack;
// #include "backward/run-queue.wgsl"
// #include "pull-back/warm-change.wgsl"
// #include "pull-back/limit-edge.wgsl"
// #include "pull-back/momentum-of-vertex.wgsl"
// #include "pull-back/next-momentum.wgsl"

// At least one for each workgroup of 64 vertices of a small mesh. On a processor every barrier is paid by each thread
// (gpu/device/kernel.ts).
override SMALL_THREADS: u32 = 256u;

// One sweep: the edges colour by colour, then the contacts. What it has written all threads see afterwards.
fn sweepOnce(local: u32) {
  sweepColours(0u, pullBack.colours, local, SMALL_THREADS);
  storageBarrier();
  runTail(0u, local, SMALL_THREADS);
  storageBarrier();
}
