// What common/append.wgsl does, with one atomic operation a subgroup in place of one a thread: on hardware those on one address
// run one after the other.

// The first place of the subgroup's is taken by one of its threads; each adds how many before it are counted.
fn reserve(counter: ptr<storage, atomic<u32>, read_write>, isCounted: bool) -> u32 {
  let one = select(0u, 1u, isCounted);
  let before = subgroupExclusiveAdd(one);
  let all = subgroupAdd(one);
  var first = 0u;
  if (subgroupElect() && all > 0u) {
    first = atomicAdd(counter, all);
  }
  return select(0u, subgroupBroadcastFirst(first) + before, isCounted);
}

fn countUp(counter: ptr<storage, atomic<u32>, read_write>, isCounted: bool) {
  let all = subgroupAdd(select(0u, 1u, isCounted));
  if (subgroupElect() && all > 0u) {
    atomicAdd(counter, all);
  }
}

fn raise(counter: ptr<storage, atomic<u32>, read_write>, bits: u32, isCounted: bool) {
  let most = subgroupMax(select(0u, bits, isCounted));
  if (subgroupElect() && most > 0u) {
    atomicMax(counter, most);
  }
}
