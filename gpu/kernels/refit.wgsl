// Refit of an implicit tree, several levels a dispatch (mirrors Bvh.#refit in src/solver/cpu/bvh.ts): node k bounds its
// children 2k and 2k + 1 and has the bar bits that both have; leaf i, node width + i, bounds slots 8i to 8i + 7.
//
// A workgroup takes 64 neighbouring nodes and works upward to the one above them all: first from the slots (refitLeaves),
// then from 128 nodes of a level that is done (refitNodes). In and out: tree. Empty nodes are inverted.
// #include "common/groups.wgsl"

struct Refit {
  // index of node 0 and of slot 0 in tree
  nodes: u32,
  slots: u32,
  count: u32,
  // refitLeaves: number of leaves; refitNodes: number of nodes on the level that is done, at least 2. Powers of two.
  width: u32,
}

@group(0) @binding(0) var<uniform> refit: Refit;
@group(0) @binding(1) var<storage, read_write> tree: array<vec4f>;

const LEAF_SIZE: u32 = 8u;
// The largest float32 stands for infinity, which WGSL does not promise; all bits of a bar set.
const FAR: f32 = 3.4028234e38;
const ALL_BITS: u32 = 3u;

struct Node {
  lo: vec3f,
  hi: vec3f,
  bits: u32,
}

var<workgroup> level: array<Node, 64>;

fn emptyNode() -> Node {
  return Node(vec3f(FAR), vec3f(-FAR), ALL_BITS);
}

fn joined(a: Node, b: Node) -> Node {
  return Node(min(a.lo, b.lo), max(a.hi, b.hi), a.bits & b.bits);
}

fn readNode(k: u32) -> Node {
  let lo = tree[2u * k];
  return Node(lo.xyz, tree[2u * k + 1u].xyz, u32(lo.w));
}

fn writeNode(k: u32, node: Node) {
  tree[2u * (refit.nodes + k)] = vec4f(node.lo, f32(node.bits));
  tree[2u * (refit.nodes + k) + 1u] = vec4f(node.hi, 0.0);
}

// Writes this group's share of the level of `width` nodes and of all levels above it that the group covers alone.
fn climb(width: u32, group: u32, thread: u32, own: Node) {
  var across = width;
  var mine = min(64u, width);
  if (thread < mine) {
    level[thread] = own;
    writeNode(across + group * mine + thread, own);
  }
  while (mine > 1u) {
    mine /= 2u;
    across /= 2u;
    var node = emptyNode();
    workgroupBarrier();
    if (thread < mine) {
      node = joined(level[2u * thread], level[2u * thread + 1u]);
    }
    workgroupBarrier();
    if (thread < mine) {
      level[thread] = node;
      writeNode(across + group * mine + thread, node);
    }
  }
}

@compute @workgroup_size(64)
fn refitLeaves(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = foldedGroup(workgroup, dispatched);
  // Folding may start a few groups too many: they have no nodes.
  if (group * 64u >= refit.width) {
    return;
  }
  let leaf = group * 64u + thread;
  var own = emptyNode();
  if (leaf < refit.width) {
    let first = leaf * LEAF_SIZE;
    for (var s = first; s < min(refit.count, first + LEAF_SIZE); s++) {
      own = joined(own, readNode(refit.slots + s));
    }
  }
  climb(refit.width, group, thread, own);
}

@compute @workgroup_size(64)
fn refitNodes(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = foldedGroup(workgroup, dispatched);
  let width = refit.width / 2u;
  if (group * 64u >= width) {
    return;
  }
  let k = group * 64u + thread;
  var own = emptyNode();
  if (k < width) {
    let child = refit.nodes + refit.width + 2u * k;
    own = joined(readNode(child), readNode(child + 1u));
  }
  climb(width, group, thread, own);
}
