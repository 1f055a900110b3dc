// The work of backward/slide.wgsl on a stuck vertex, for kernels with the same bindings. `y` is bound as words, as
// forward/guard.wgsl binds it.
// #include "common/corners.wgsl"
// #include "common/range.wgsl"
// #include "common/heights.wgsl"
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
  var motion = vec3f(0.0);
  for (var c = 0u; c < axes(); c++) {
    motion[c] = bitcast<f32>(y[i][c]) - x[k + c];
  }
  let approach = -heightOf(inward, motion);
  let excess = approach - parameters.gamma * slack - room;
  if (excess > 0.0) {
    for (var c = 0u; c < axes(); c++) {
      y[i][c] = bitcast<u32>(bitcast<f32>(y[i][c]) + excess * inward[c]);
    }
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

fn slideVertex(i: u32) {
  let length = atomicLoad(&lists[i].count);
  let first = lists[i].offset;
  sortList(first, length);
  for (var k = first; k < first + length; k++) {
    slideAlong(contacts[k], i);
  }
}
