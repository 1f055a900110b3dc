// Counters that many threads of a dispatch add to. Every thread calls these, in uniform control flow; `isCounted` says whether it
// counts. This is the version for devices without subgroups, an atomic operation a thread; common/append-subgroups.wgsl takes
// its place where the device has them (gpu/shaders.ts). What order threads come in is not told by either, so nothing that
// is decided may depend on it.

// A place of this thread's own among those that the counter gives out. 0 where the thread is not counted.
fn reserve(counter: ptr<storage, atomic<u32>, read_write>, isCounted: bool) -> u32 {
  var place = 0u;
  if (isCounted) {
    place = atomicAdd(counter, 1u);
  }
  return place;
}

fn countUp(counter: ptr<storage, atomic<u32>, read_write>, isCounted: bool) {
  if (isCounted) {
    atomicAdd(counter, 1u);
  }
}

// The counter becomes the largest of itself and the bits of the threads that count.
fn raise(counter: ptr<storage, atomic<u32>, read_write>, bits: u32, isCounted: bool) {
  if (isCounted) {
    atomicMax(counter, bits);
  }
}
