// The total of the parts in `sums`, behind them, in one workgroup.
//
// In and out: sums. No counterpart on the CPU.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> sums: array<vec4f>;
// #include "pull-back/sum-parts.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn sumUp(@builtin(local_invocation_index) local: u32) {
  let total = sumOfParts(sumGroups(), local);
  if (local == 0u) {
    sums[SUM_GROUPS] = total;
  }
}
