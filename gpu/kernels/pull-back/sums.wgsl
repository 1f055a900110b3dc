// Sums that do not depend on the order of the threads, in three levels: a thread adds every so-many-th term, in their order;
// the first thread of a workgroup adds what its threads have, and leaves the part in `sums`; one workgroup adds the parts in
// the same way (sumOfParts). In float32 n positive terms err by less than (n/16384 + 64 + 4 + 64) u of their sum, 3e-5 for a
// million.
var<workgroup> shares: array<vec4f, WORKGROUP_SIZE>;

// The sum of what the threads of a workgroup have; for its first thread only.
fn sumOfGroup(own: vec4f, local: u32) -> vec4f {
  shares[local] = own;
  workgroupBarrier();
  var sum = vec4f(0.0);
  let count = select(0u, WORKGROUP_SIZE, local == 0u);
  for (var n = 0u; n < count; n++) {
    sum += shares[n];
  }
  return sum;
}
