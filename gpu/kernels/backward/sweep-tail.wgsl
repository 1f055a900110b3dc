// The contact sweep, or what rounds of whole dispatches left of it, in one workgroup: rounds until the queue is empty. See
// backward/contact-projection.wgsl.
// #include "common/parameters.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
// #include "backward/contact-projection.wgsl"

// The largest group that every implementation allows: the more threads, the fewer turns.
const THREADS: u32 = 256u;

// No queue ends here: there is nothing left to run.
const NOTHING: u32 = 0xffffffffu;

// Where the queue ends, for all threads alike.
var<workgroup> tail: u32;

@compute @workgroup_size(THREADS)
fn sweepTail(@builtin(local_invocation_index) local: u32) {
  var begin = control.queueEnd;
  var rounds = control.sweepRounds;
  loop {
    if (local == 0u) {
      let end = atomicLoad(&control.queueTail);
      tail = select(end, NOTHING, end == begin);
    }
    // Also a barrier: nobody puts anything into the queue before all know where it ends.
    let end = workgroupUniformLoad(&tail);
    if (end == NOTHING) {
      break;
    }
    rounds++;
    for (var n = begin + local; n < end; n += THREADS) {
      project(n);
    }
    begin = end;
    // What the round wrote is seen by the next; every barrier is as dear to compile as a kernel.
    storageBarrier();
  }
  if (local == 0u) {
    control.mostRounds = max(control.mostRounds, rounds);
    // The next sweep of this step begins with the same contacts, which still stand where linkRows put them.
    atomicStore(&control.queueTail, atomicLoad(&control.readyCount));
    control.queueEnd = 0u;
    control.sweepRounds = 0u;
    control.sweepsDone += 1u;
  }
}
