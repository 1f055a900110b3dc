// Opens a round of the contact sweep in whole dispatches, by one thread: it takes what stands in the queue. With few
// contacts, or none left, the round is empty and the queue stays as it is for backward/sweep-tail.wgsl.
//
// In and out: control. Out: candidateArguments.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/control.wgsl"
// #include "common/slots.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> candidateArguments: array<u32>;

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
  let folded = foldedGroups(control.queueEnd - control.queueBegin);
  candidateArguments[3u * WIDE] = folded.x;
  candidateArguments[3u * WIDE + 1u] = folded.y;
  candidateArguments[3u * WIDE + 2u] = 1u;
}
