// The sweeps of a step of the pull-back over a small mesh, or a further round of them, all in one workgroup: the kernels of
// pull-back/multipliers.wgsl and the sweeps of pull-back/sweeps-alone.wgsl one after the other. A mesh of up to SMALL_VERTICES
// has less to do in a pass than its dispatches cost.
//
// Of the sum whose sign decides whether the momentum turns (pull-back/sums.wgsl), a workgroup of 64 threads has one vertex a
// thread, and the sums of up to 64 workgroups follow each other: so many vertices have their terms in the memory of the
// workgroup.
//
// In and out besides: kept. Mirrors AcceleratedSweeps.run (src/solver/cpu/accelerated-sweeps.ts).
// #include "pull-back/sweeps-alone.wgsl"
@group(0) @binding(16) var<storage, read_write> kept: array<f32>;
// #include "pull-back/multiplier-of-row.wgsl"

var<workgroup> terms: array<f32, SMALL_VERTICES>;
var<workgroup> groupSums: array<f32, WORKGROUP_SIZE>;
// The number of the sweep that is next, for all threads alike.
var<workgroup> firstSweep: u32;

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
  if (local == 0u) {
    firstSweep = control.sweepsDone;
  }
  let first = workgroupUniformLoad(&firstSweep);
  let isFirstRound = first == 0u;
  for (var n = local; isFirstRound && n < rows; n += SMALL_THREADS) {
    takeMultiplier(atomicLoad(&contacts[rowAt(n)]));
  }
  // The first round has pass 0 besides.
  let end = first + pullBack.sweeps + select(0u, 1u, isFirstRound);
  for (var sweep = first; sweep < end; sweep++) {
    // The last sweep of a round is not extrapolated before another one follows: its y satisfies the rows as well as they can be.
    if (sweep > 0u) {
      let turned = turns(local);
      if (local == 0u) {
        turnMomentum(turned);
      }
      if (isCompletePass(sweep)) {
        for (var colour = local; colour < pullBack.colours; colour += SMALL_THREADS) {
          atomicStore(&edgeActive[colour], 0u);
        }
      }
      storageBarrier();
      for (var i = local; i < parameters.vertexCount; i += SMALL_THREADS) {
        extrapolateVertex(i);
      }
      // The rows have taken theirs before pass 0 (pull-back/multipliers.wgsl).
      for (var p = local; sweep == 1u && p < control.pairCount; p += SMALL_THREADS) {
        kept[p] = 0.0;
      }
    }
    sweepOnce(local);
  }
  for (var n = local; n < rows; n += SMALL_THREADS) {
    keepMultiplier(atomicLoad(&contacts[rowAt(n)]));
  }
}
