// What common/append.wgsl does, with one atomic operation a subgroup in place of one a thread: on hardware those on one address
// run one after the other.

// One thread takes the first place for its subgroup; each thread adds the number of places that the threads before it
// take.
fn reserveRoom(counter: ptr<storage, atomic<u32>, read_write>, size: u32) -> u32 {
  let before = subgroupExclusiveAdd(size);
  let all = subgroupAdd(size);
  var first = 0u;
  if (subgroupElect() && all > 0u) {
    first = atomicAdd(counter, all);
  }
  return select(0u, subgroupBroadcastFirst(first) + before, size > 0u);
}

fn reserve(counter: ptr<storage, atomic<u32>, read_write>, isCounted: bool) -> u32 {
  return reserveRoom(counter, select(0u, 1u, isCounted));
}

fn addUp(counter: ptr<storage, atomic<u32>, read_write>, amount: u32) {
  let all = subgroupAdd(amount);
  if (subgroupElect() && all > 0u) {
    atomicAdd(counter, all);
  }
}

fn countUp(counter: ptr<storage, atomic<u32>, read_write>, isCounted: bool) {
  addUp(counter, select(0u, 1u, isCounted));
}

fn raise(counter: ptr<storage, atomic<u32>, read_write>, bits: u32, isCounted: bool) {
  let most = subgroupMax(select(0u, bits, isCounted));
  if (subgroupElect() && most > 0u) {
    atomicMax(counter, most);
  }
}
