// Boxes of the triangles and of the tree above them, for the state filter (gpu/filter). Leaf i, node leaves + i, bounds
// slots 8i to 8i + 7; node k bounds nodes 2k and 2k + 1; node 1 bounds all. Minima and maxima do not round, and no
// coordinate is subnormal, so boxes and their comparisons are exact.
//
// In: x, the triangles in slot order. Out: tree, two vec4f a box, lo and hi; nodes first, slot s at 2 * leaves + s. Empty
// nodes are inverted. One thread a box; one dispatch for the slots, one for each level from the leaves to the root.
// #include "common/dispatch.wgsl"

@group(0) @binding(0) var<uniform> level: FilterLevel;
// f32[3V]
@group(0) @binding(1) var<storage, read> x: array<f32>;
// u32[3T]
@group(0) @binding(2) var<storage, read> triangles: array<u32>;
@group(0) @binding(3) var<storage, read_write> tree: array<vec4f>;

// The largest float32 stands for infinity, which WGSL does not promise.
const FAR: f32 = 3.4028234e38;

fn positionOf(v: u32) -> vec3f {
  return vec3f(x[3u * v], x[3u * v + 1u], x[3u * v + 2u]);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn boxTriangles(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let slot = WORKGROUP_SIZE * foldedGroup(workgroup, dispatched) + thread;
  if (slot >= level.triangles) {
    return;
  }
  let a = positionOf(triangles[3u * slot]);
  let b = positionOf(triangles[3u * slot + 1u]);
  let c = positionOf(triangles[3u * slot + 2u]);
  let at = 2u * (2u * level.leaves + slot);
  tree[at] = vec4f(min(a, min(b, c)), 0.0);
  tree[at + 1u] = vec4f(max(a, max(b, c)), 0.0);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn joinBoxes(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let i = WORKGROUP_SIZE * foldedGroup(workgroup, dispatched) + thread;
  if (i >= level.width) {
    return;
  }
  var first = 2u * (level.width + i);
  var end = first + 2u;
  if (level.isLeaf != 0u) {
    first = 2u * level.leaves + LEAF_SIZE * i;
    end = min(first + LEAF_SIZE, 2u * level.leaves + level.triangles);
  }
  var lo = vec4f(FAR);
  var hi = vec4f(-FAR);
  for (var k = first; k < end; k++) {
    lo = min(lo, tree[2u * k]);
    hi = max(hi, tree[2u * k + 1u]);
  }
  let at = 2u * (level.width + i);
  tree[at] = lo;
  tree[at + 1u] = hi;
}
