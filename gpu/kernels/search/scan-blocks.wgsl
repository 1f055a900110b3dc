// Exclusive prefix sums of u32 inside blocks of 1,024, in place, and the sum of each block; then, going back down,
// the block's own offset added to each of its entries. Sums saturate at 2^32 - 1.
//
// In and out: data, one level of the sum. Out of scanBlocks, in of addBlocks: sums, the level above (one entry for the
// top: the total). No counterpart on the CPU, where a loop does.
// #include "search/scan-levels.wgsl"

@group(0) @binding(0) var<uniform> scan: ScanLevel;
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> data: array<u32>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;

const THREADS: u32 = 128u;
const ITEMS: u32 = 8u;

var<workgroup> running: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn scanBlocks(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let count = scanLevelCount(counts[scan.countWord], scan.level);
  // An empty sum has one entry in name only: it reads as 0.
  let filled = select(count, 0u, scan.level == 0u && counts[scan.countWord] == 0u);
  let block = foldedGroup(workgroup, dispatched);
  let first = block * SCAN_BLOCK + thread * ITEMS;
  let end = max(first, min(first + ITEMS, filled));
  var sum = 0u;
  for (var entry = first; entry < end; entry++) {
    sum = addSaturating(sum, data[entry]);
  }
  running[thread] = sum;
  workgroupBarrier();
  for (var reach = 1u; reach < THREADS; reach *= 2u) {
    var left = 0u;
    if (thread >= reach) {
      left = running[thread - reach];
    }
    workgroupBarrier();
    running[thread] = addSaturating(left, running[thread]);
    workgroupBarrier();
  }
  var offset = 0u;
  if (thread > 0u) {
    offset = running[thread - 1u];
  }
  for (var entry = first; entry < end; entry++) {
    let own = data[entry];
    data[entry] = offset;
    offset = addSaturating(offset, own);
  }
  if (thread == THREADS - 1u && block < groupsFor(count, SCAN_BLOCK)) {
    sums[block] = running[thread];
  }
}

@compute @workgroup_size(THREADS)
fn addBlocks(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let count = scanLevelCount(counts[scan.countWord], scan.level);
  let block = foldedGroup(workgroup, dispatched);
  let first = block * SCAN_BLOCK;
  let end = min(first + SCAN_BLOCK, count);
  for (var entry = first + thread; entry < end; entry += THREADS) {
    data[entry] = addSaturating(sums[block], data[entry]);
  }
}
