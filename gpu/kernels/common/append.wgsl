// Counters that many threads of a dispatch add to. Every thread calls these, in uniform control flow; `isCounted` says
// whether it counts. This is the version for devices without subgroups, an atomic operation a thread;
// common/append-subgroups.wgsl takes its place where the device has them (gpu/shaders.ts). Neither version fixes the
// order in which threads come, so no decision may depend on it.

// The first of so many consecutive places that the counter gives to this thread; 0 where it takes none.
fn reserveRoom(counter: ptr<storage, atomic<u32>, read_write>, size: u32) -> u32 {
  var place = 0u;
  if (size > 0u) {
    place = atomicAdd(counter, size);
  }
  return place;
}

// A place that the counter gives to this thread; 0 where the thread is not counted.
fn reserve(counter: ptr<storage, atomic<u32>, read_write>, isCounted: bool) -> u32 {
  return reserveRoom(counter, select(0u, 1u, isCounted));
}

// The counter becomes its sum with what the threads add.
fn addUp(counter: ptr<storage, atomic<u32>, read_write>, amount: u32) {
  if (amount > 0u) {
    atomicAdd(counter, amount);
  }
}

fn countUp(counter: ptr<storage, atomic<u32>, read_write>, isCounted: bool) {
  addUp(counter, select(0u, 1u, isCounted));
}

// The counter becomes the largest of itself and the bits of the threads that count.
fn raise(counter: ptr<storage, atomic<u32>, read_write>, bits: u32, isCounted: bool) {
  if (isCounted) {
    atomicMax(counter, bits);
  }
}
