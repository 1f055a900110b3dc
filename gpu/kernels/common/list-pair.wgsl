// For kernels that make a list of pairs: rows' first third, its length in word 3P. The list is in no order.
fn listPair(p: u32, kind: u32) {
  let place = atomicAdd(&rows[3u * control.pairCapacity], 1u);
  atomicStore(&rows[place], p | (kind << KIND_SHIFT));
}
