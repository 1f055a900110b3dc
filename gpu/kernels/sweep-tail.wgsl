// The rest of a contact sweep in one workgroup: rounds until no contact waits. Small steps need nothing else. See
// common/sweep-row.wgsl.
//
// In: rows, first third, without those marked DONE; the marks are taken away. The other two thirds hold who still waits,
// in turn. The first place among the waiting runs in every round, so that each round is shorter than the last.
// #include "common/parameters.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
// #include "common/sweep-row.wgsl"

// The largest group that every implementation allows: the more threads, the fewer turns.
const THREADS: u32 = 256u;

var<workgroup> waiting: atomic<u32>;

@compute @workgroup_size(THREADS)
fn sweepTail(@builtin(local_invocation_index) local: u32) {
  let total = atomicLoad(&control.rowCount);
  let capacity = control.pairCapacity;
  for (var n = local; n < total; n += THREADS) {
    let entry = rows[n];
    if ((entry & DONE) != 0u) {
      rows[n] = entry & ~DONE;
    } else {
      rows[capacity + atomicAdd(&waiting, 1u)] = entry;
    }
  }
  storageBarrier();
  workgroupBarrier();
  var count = workgroupUniformLoad(&waiting);
  var here = capacity;
  var rounds = 0u;
  loop {
    if (count == 0u) {
      break;
    }
    rounds++;
    for (var n = local; n < count; n += THREADS) {
      claim(rows[here + n]);
    }
    if (local == 0u) {
      atomicStore(&waiting, 0u);
    }
    storageBarrier();
    workgroupBarrier();
    let to = 3u * capacity - here;
    for (var n = local; n < count; n += THREADS) {
      let entry = rows[here + n];
      if (!project(entry)) {
        rows[to + atomicAdd(&waiting, 1u)] = entry;
      }
    }
    storageBarrier();
    workgroupBarrier();
    let left = workgroupUniformLoad(&waiting);
    // Cannot happen while memory is sound; a device must not hang on it.
    if (left >= count) {
      break;
    }
    count = left;
    here = to;
  }
  if (local == 0u) {
    control.mostRounds = max(control.mostRounds, rounds);
  }
}
