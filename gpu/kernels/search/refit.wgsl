// Refit of an implicit tree, several levels a dispatch (mirrors Bvh.#refit and fillLeaves in src/solver/bvh.ts): node k bounds its
// children 2k and 2k + 1 and has the mask bits that both have; leaf i, node width + i, bounds slots 8i to 8i + 7.
//
// A workgroup takes 64 neighbouring nodes and works upward to the one above them all: first from the slots (refitLeaves),
// then from 128 nodes of a level that is done (refitNodes). In and out: cells (search/cells.wgsl).
// #include "common/dispatch.wgsl"
// #include "search/cells.wgsl"

@group(0) @binding(0) var<uniform> refit: Refit;
@group(0) @binding(1) var<storage, read_write> cells: array<vec4u>;

var<workgroup> level: array<vec4u, REFIT_NODES>;

// Writes this group's share of the level of `width` nodes and of all levels above it that the group covers alone.
fn climb(width: u32, group: u32, thread: u32, own: vec4u) {
  var across = width;
  var mine = min(REFIT_NODES, width);
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

@compute @workgroup_size(WORKGROUP_SIZE)
fn refitLeaves(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = foldedGroup(workgroup, dispatched);
  // Folding may start a few groups too many: they have no nodes.
  if (group * REFIT_NODES >= refit.width) {
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
  climb(refit.width, group, thread, own);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn refitNodes(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = foldedGroup(workgroup, dispatched);
  let width = refit.width / 2u;
  if (group * REFIT_NODES >= width) {
    return;
  }
  let k = group * REFIT_NODES + thread;
  var own = CELLS_NONE;
  if (k < width) {
    let child = refit.nodes + refit.width + 2u * k;
    own = joinedCells(cells[child], cells[child + 1u]);
  }
  climb(width, group, thread, own);
}
