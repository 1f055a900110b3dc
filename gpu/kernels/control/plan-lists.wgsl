// Sizes of the dispatches over lists that a step has made, by one thread.
//
//   planActive   takes over the list of pairs that list-near-pairs or list-bounded-pairs has filled; the next one begins empty
//   openRound    opens a round of the contact sweep in whole dispatches: it takes what is in the queue. With few contacts, or
//                none left, the round is empty and the queue remains for sweepTail
//
// In: parameters. In and out: control. Out: candidateArguments. No counterpart on the CPU.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> candidateArguments: array<u32>;

fn writeSize(slot: u32, threads: u32) {
  let size = foldThreads(threads);
  candidateArguments[3u * slot] = size.x;
  candidateArguments[3u * slot + 1u] = size.y;
  candidateArguments[3u * slot + 2u] = size.z;
}

@compute @workgroup_size(1)
fn planActive() {
  let count = atomicLoad(&control.listedCount);
  atomicStore(&control.listedCount, 0u);
  control.activeCount = count;
  writeSize(LIST_SLOT_ACTIVE, count);
}

@compute @workgroup_size(1)
fn openRound() {
  let tail = atomicLoad(&control.queueTail);
  let isWide = atomicLoad(&control.rowCount) > parameters.tailRows && tail > control.queueEnd;
  if (isWide) {
    control.queueBegin = control.queueEnd;
    control.queueEnd = tail;
    control.sweepRounds += 1u;
  } else {
    control.queueBegin = control.queueEnd;
  }
  writeSize(LIST_SLOT_ROUND, control.queueEnd - control.queueBegin);
}
