// Refit of the implicit trees (mirrors Bvh.#refit and fillLeaves in src/solver/bvh.ts): node k bounds its children 2k and 2k +
// 1 and has the mask bits that both have; leaf i, node width + i, bounds slots 8i to 8i + 7.
//
//   refitLeaves   a workgroup takes 64 neighbouring leaves of a tree and works upward to the node above them all
//   refitNodes    a workgroup takes a tree, and all levels above these nodes
//
// In: refits, one tree after the other, and an end whose width is 0. In and out: cells (search/cells.wgsl).
// #include "common/dispatch.wgsl"
// #include "search/cells.wgsl"

@group(0) @binding(0) var<storage, read> refits: array<Refit>;
@group(0) @binding(1) var<storage, read_write> cells: array<vec4u>;

var<workgroup> level: array<vec4u, REFIT_NODES>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn refitLeaves(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  var group = foldedGroup(workgroup, dispatched);
  var tree = 0u;
  while (refits[tree].width > 0u && group >= groupsFor(refits[tree].width, REFIT_NODES)) {
    group -= groupsFor(refits[tree].width, REFIT_NODES);
    tree++;
  }
  let refit = refits[tree];
  // Folding may start a few groups too many: they have no nodes.
  if (refit.width == 0u) {
    return;
  }
  let leaf = group * REFIT_NODES + thread;
  var own = CELLS_NONE;
  if (leaf < refit.width) {
    let first = leaf * LEAF_SIZE;
    for (var s = first; s < min(refit.count, first + LEAF_SIZE); s++) {
      own = joinedCells(own, cells[refit.slots + s]);
    }
  }
  // This group's share of the level of the leaves and of all levels above it that the group covers alone.
  var across = refit.width;
  var mine = min(REFIT_NODES, across);
  if (thread < mine) {
    level[thread] = own;
    cells[refit.nodes + across + group * mine + thread] = own;
  }
  while (mine > 1u) {
    mine /= 2u;
    across /= 2u;
    var node = CELLS_NONE;
    workgroupBarrier();
    if (thread < mine) {
      node = joinedCells(level[2u * thread], level[2u * thread + 1u]);
    }
    workgroupBarrier();
    if (thread < mine) {
      level[thread] = node;
      cells[refit.nodes + across + group * mine + thread] = node;
    }
  }
}

@compute @workgroup_size(TAIL_THREADS)
fn refitNodes(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let refit = refits[workgroup.x];
  for (var width = refit.width / (2u * REFIT_NODES); width > 0u; width /= 2u) {
    // The barrier comes before a level, not after it: software drivers compile twice what precedes the first barrier.
    storageBarrier();
    for (var k = width + thread; k < 2u * width; k += TAIL_THREADS) {
      let child = refit.nodes + 2u * k;
      cells[refit.nodes + k] = joinedCells(cells[child], cells[child + 1u]);
    }
  }
}
