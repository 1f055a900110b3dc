// Sizes of the dispatches of a prefix sum whose element count only the device knows.
//
// In: the count, a word of some buffer. Out: indirect arguments, three words a dispatch: the blocks of every level from
// the data upward, then the same levels downward without the top one (gpu/search/scan.ts). No counterpart on the CPU.
// #include "search/scan-levels.wgsl"

@group(0) @binding(0) var<uniform> plan: ScanPlan;
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> sizes: array<u32>;

fn writeSize(dispatch: u32, size: vec3u) {
  sizes[3u * dispatch] = size.x;
  sizes[3u * dispatch + 1u] = size.y;
  sizes[3u * dispatch + 2u] = size.z;
}

@compute @workgroup_size(1)
fn planScan() {
  let last = 2u * plan.levels - 2u;
  for (var level = 0u; level < plan.levels; level++) {
    let size = foldGroups(scanLevelGroups(counts[plan.countWord], level));
    // Up and, unless it is the top, down again.
    writeSize(level, size);
    writeSize(last - level, size);
  }
}
