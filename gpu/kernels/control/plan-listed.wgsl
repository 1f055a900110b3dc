// Takes over the list that backward/list-near-pairs.wgsl or forward/list-bounded-pairs.wgsl has filled, by one thread: its length, and the size of
// the dispatches over it. The next list begins empty.
//
// In and out: control. Out: candidateArguments.
// #include "common/dispatch.wgsl"
// #include "common/control.wgsl"
// #include "common/slots.wgsl"
@group(0) @binding(0) var<storage, read_write> control: Control;
@group(0) @binding(1) var<storage, read_write> candidateArguments: array<u32>;

@compute @workgroup_size(1)
fn planActive() {
  let count = atomicLoad(&control.listedCount);
  atomicStore(&control.listedCount, 0u);
  control.activeCount = count;
  let folded = foldedGroups(count);
  candidateArguments[3u * ACTIVE] = folded.x;
  candidateArguments[3u * ACTIVE + 1u] = folded.y;
  candidateArguments[3u * ACTIVE + 2u] = 1u;
}
