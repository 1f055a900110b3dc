// Takes over the list of pairs that list-near-pairs or list-bounded-pairs has filled, by one thread: the size of the dispatches over it. The
// next list begins empty.
//
// In and out: control. Out: candidateArguments. No counterpart on the CPU.
// #include "common/dispatch.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> candidateArguments: array<u32>;

@compute @workgroup_size(1)
fn planActive() {
  let count = atomicLoad(&control.listedCount);
  atomicStore(&control.listedCount, 0u);
  control.activeCount = count;
  let size = foldThreads(count);
  candidateArguments[3u * LIST_SLOT_ACTIVE] = size.x;
  candidateArguments[3u * LIST_SLOT_ACTIVE + 1u] = size.y;
  candidateArguments[3u * LIST_SLOT_ACTIVE + 2u] = size.z;
}
