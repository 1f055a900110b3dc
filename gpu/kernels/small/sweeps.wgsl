// The sweeps of a step of the pull-back over a small mesh, all of them in one workgroup: the kernels of pull-back/multipliers.wgsl,
// edge-limits.wgsl, warm-sweep.wgsl, momentum.wgsl and close-sweep.wgsl one after the other, by the same functions and in the same order, so
// that y has the same bytes. A mesh of up to SMALL_VERTICES has less to do in a pass than its dispatches cost.
//
// Of the sum whose sign decides whether the momentum turns (pull-back/sums.wgsl), a workgroup of 64 threads has one vertex a thread, and
// the sums of up to 64 workgroups follow each other: so many vertices have their terms in the memory of the workgroup.
//
// In: x, pairVertex, pairNormal, edgeEnds, edgeRow, edgeColours, inverseMass. In and out: y, yFrom, yLast, candidates, contacts, edgePush,
// edgeActive, kept, control. Mirrors AcceleratedSweeps.run (src/solver/cpu/accelerated-sweeps.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> candidates: array<SweptCandidate>;
@group(0) @binding(7) var<storage, read_write> contacts: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(9) var<storage, read> edgeRow: array<vec4f>;
@group(0) @binding(10) var<storage, read_write> edgePush: array<vec4f>;
@group(0) @binding(11) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(12) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(13) var<storage, read_write> edgeActive: array<atomic<u32>>;
@group(0) @binding(14) var<storage, read_write> yFrom: array<f32>;
@group(0) @binding(15) var<storage, read_write> yLast: array<f32>;
@group(0) @binding(16) var<storage, read_write> kept: array<KeptMultiplier>;
@group(0) @binding(17) var<uniform> pullBack: PullBack;
// #include "backward/run-queue.wgsl"
// #include "pull-back/warm-change.wgsl"
// #include "pull-back/limit-edge.wgsl"
// #include "pull-back/momentum-of-vertex.wgsl"
// #include "pull-back/next-momentum.wgsl"
// #include "pull-back/multiplier-of-row.wgsl"

// At least one for each workgroup of 64 vertices. On a processor every barrier is paid by each thread (gpu/device/kernel.ts).
override SMALL_THREADS: u32 = 256u;

var<workgroup> terms: array<f32, SMALL_VERTICES>;
var<workgroup> groupSums: array<f32, WORKGROUP_SIZE>;

// Whether the momentum points away from where the sweep went; for the first thread only.
fn turns(local: u32) -> bool {
  for (var i = local; i < parameters.vertexCount; i += SMALL_THREADS) {
    terms[i] = turnOf(i);
  }
  workgroupBarrier();
  let groups = groupsFor(parameters.vertexCount, WORKGROUP_SIZE);
  if (local < groups) {
    var part = 0.0;
    let end = min(parameters.vertexCount, WORKGROUP_SIZE * (local + 1u));
    for (var i = WORKGROUP_SIZE * local; i < end; i++) {
      part += terms[i];
    }
    groupSums[local] = part;
  }
  workgroupBarrier();
  var sum = 0.0;
  let count = select(0u, groups, local == 0u);
  for (var n = 0u; n < count; n++) {
    sum += groupSums[n];
  }
  return sum > 0.0;
}

@compute @workgroup_size(SMALL_THREADS)
fn sweepSmall(@builtin(local_invocation_index) local: u32) {
  let rows = atomicLoad(&control.rowCount);
  for (var n = local; n < rows; n += SMALL_THREADS) {
    takeMultiplier(atomicLoad(&contacts[rowAt(n)]));
  }
  for (var turn = 0u; turn <= pullBack.sweeps; turn++) {
    for (var colour = 0u; colour < pullBack.colours; colour++) {
      storageBarrier();
      sweepColour(colour, local, SMALL_THREADS);
    }
    storageBarrier();
    runTail(0u, local, SMALL_THREADS);
    storageBarrier();
    // The last sweep is not extrapolated: its y satisfies the rows as well as they can be.
    if (turn < pullBack.sweeps) {
      let turned = turns(local);
      if (local == 0u) {
        turnMomentum(turned);
      }
      // runTail has counted the pass.
      if (isCompletePass(turn + 1u)) {
        for (var colour = local; colour < pullBack.colours; colour += SMALL_THREADS) {
          atomicStore(&edgeActive[colour], 0u);
        }
      }
      storageBarrier();
      for (var i = local; i < parameters.vertexCount; i += SMALL_THREADS) {
        extrapolateVertex(i);
      }
    }
  }
  for (var n = local; n < rows; n += SMALL_THREADS) {
    keepMultiplier(atomicLoad(&contacts[rowAt(n)]));
  }
}
