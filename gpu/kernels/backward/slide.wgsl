// Lets stuck vertices slide, one thread a vertex: the component of y_i − x_i that would cross the half-space of a candidate pair
// is removed, pair after pair in the order of P; the rest of the motion is free. The half-space bound scales a
// vertex's whole motion by one α, so that at the floor a small approaching part stops the tangential part as well. y is
// guidance; the bound and the check that follow keep the path safe.
//
// In: x, vertexStep.flags, pairs, lists, candidates. In and out: y; contacts: the list of a stuck vertex, whose candidates become their
// entries in the order of P. Nothing reads the list after this. Mirrors Slide.apply (src/solver/cpu/slide.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/corners.wgsl"
// #include "common/heights.wgsl"
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(7) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(8) var<storage, read_write> contacts: array<u32>;
// #include "common/corners-of-x.wgsl"

fn slideAlong(entry: u32, i: u32) {
  let p = pairOf(entry);
  let ids = pairVertex[p];
  let kind = kindOf(entry);
  let n = pairNormal[p].xyz;
  let heights = measureHeights(kind, cornersOfX(kind, ids), n);
  let room = 0.5 * parameters.gamma * max(0.0, heights.gap - parameters.floor);
  var slot = 0u;
  for (var s = 1u; s < 4u; s++) {
    if (ids[s] == i32(i)) {
      slot = s;
    }
  }
  let isA = slot < sideAOf(kind);
  let slack = select(heights.hi - heights.h[slot], heights.h[slot] - heights.lo, isA);
  let inward = select(-n, n, isA);
  let k = 3u * i;
  let approach = -heightOf(inward, vec3f(y[k] - x[k], y[k + 1u] - x[k + 1u], y[k + 2u] - x[k + 2u]));
  let excess = approach - parameters.gamma * slack - room;
  if (excess > 0.0) {
    y[k] += excess * inward.x;
    y[k + 1u] += excess * inward.y;
    y[k + 2u] += excess * inward.z;
  }
}

// Moves the entry at `root` of a heap down to where no entry below it has a larger pair.
fn sink(first: u32, root: u32, end: u32) {
  let entry = contacts[first + root];
  var at = root;
  loop {
    var child = 2u * at + 1u;
    if (child >= end) {
      break;
    }
    if (child + 1u < end && pairOf(contacts[first + child + 1u]) > pairOf(contacts[first + child])) {
      child++;
    }
    if (pairOf(contacts[first + child]) <= pairOf(entry)) {
      break;
    }
    contacts[first + at] = contacts[first + child];
    at = child;
  }
  contacts[first + at] = entry;
}

// The list in the order of P, by heap sort: in place, and no order of the list makes it slow.
fn sortList(first: u32, length: u32) {
  for (var k = first; k < first + length; k++) {
    contacts[k] = candidates[contacts[k]].entry;
  }
  for (var k = length / 2u; k > 0u; k--) {
    sink(first, k - 1u, length);
  }
  for (var end = length; end > 1u; end--) {
    let last = contacts[first + end - 1u];
    contacts[first + end - 1u] = contacts[first];
    contacts[first] = last;
    sink(first, 0u, end - 1u);
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn slide(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount || (vertexStep[i].flags & STUCK) == 0u) {
    return;
  }
  let length = atomicLoad(&lists[i].count);
  let first = lists[i].offset;
  sortList(first, length);
  for (var k = first; k < first + length; k++) {
    slideAlong(contacts[k], i);
  }
}
