// Proximity search, one thread a query: walks a tree without a stack, looks closer at every element whose box overlaps,
// and counts what belongs into P, or writes it (mirrors Bvh.forEachOverlap in src/solver/cpu/bvh.ts and Sink in
// src/solver/cpu/search.ts). After a hit the walk goes to node 2k, after a miss or a leaf to (k + 1) >> ctz(k + 1), and
// it ends back at 1.
//
// Hulls of trust boxes that overlap after their growth (touching counts) make a pair unless they have a bar bit or a
// vertex in common, belong to two ignored parts or are left out (src/mesh/left-out-pairs.ts). A pair is dropped only if n, the direction of its closest points,
// keeps it further apart than the cut wherever in the boxes its vertices are: lo - hi > cut + 16 u L, where L bounds the
// terms of every height used, u = 2^-23.
//
// Counting and writing are one pipeline run twice with another flag, not two: two compilations may round differently, and
// a pair that is counted once and not written, or the reverse, would tear P.
//
// Counting leaves each query's first STASH finds behind the offsets: where those are all, writing need not walk again.
//
// In: walk, control, topology, tree, vertices; writing: offsets. Out: counting: offsets; writing: pairs from each query's
// offset on, in walk order, with their normal, delta_p = 0 and their kind.
// #include "common/groups.wgsl"
// #include "common/search-control.wgsl"
// #include "common/closest.wgsl"

// VT, EE, VE or VV
override KIND: u32;

const VT: u32 = 0u;
const EE: u32 = 1u;
const VE: u32 = 2u;
const VV: u32 = 3u;

struct Walk {
  // 0: count, 1: write
  isWriting: u32,
  // number of this walk's first query among all queries
  firstQuery: u32,
  // queries: slots of one set of elements
  ownSlot: u32,
  ownCount: u32,
  // the tree they walk: node 0, slots, leaves (a power of two)
  nodes: u32,
  otherSlot: u32,
  otherCount: u32,
  leaves: u32,
  // index of slot 0 in tree
  boxes: u32,
  // places in topology: part of each vertex, first of each part's ignored parts, the lists (ascending)
  hasIgnored: u32,
  parts: u32,
  ignoredFirst: u32,
  ignored: u32,
  // vertices of a pair
  corners: u32,
  // where in offsets the finds are kept: the n-th of a query at stash + n * queries + query
  stash: u32,
  // places in topology (gpu/search/topology-tail.ts): δ of vertex 0, 0 = one δ for all; marks of the vertices that are in
  // some pair that is left out; keys of these pairs, of this kind, ascending
  distances: u32,
  marks: u32,
  leftOutFirst: u32,
  leftOutCount: u32,
}

// Finds that are kept of a query (gpu/search/dispatch-plan.ts has the same number); more are found again.
const STASH: u32 = 16u;
// Candidates that a thread walks on to before it looks closer.
const PENDING: u32 = 8u;

@group(0) @binding(0) var<uniform> walk: Walk;
@group(0) @binding(1) var<uniform> control: SearchControl;
@group(0) @binding(2) var<storage, read> topology: array<u32>;
@group(0) @binding(3) var<storage, read> tree: array<vec4f>;
// three vec4f a vertex: x, its box's lo and hi (boxes.wgsl)
@group(0) @binding(4) var<storage, read> vertices: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(6) var<storage, read_write> pairVertex: array<vec4i>;
@group(0) @binding(7) var<storage, read_write> pairInfo: array<u32>;
@group(0) @binding(8) var<storage, read_write> pairNormal: array<vec4f>;

// 16 u
const MARGIN: f32 = 1.9073486328125e-6;
// Above every height
const FAR: f32 = 3.4028234e38;

fn cornersOf(slot: u32) -> vec3u {
  return vec3u(topology[3u * slot], topology[3u * slot + 1u], topology[3u * slot + 2u]);
}

fn positionOf(v: u32) -> vec3f {
  return vertices[3u * v].xyz;
}

struct Found {
  belongs: bool,
  normal: vec3f,
}

@compute @workgroup_size(64)
fn walkPairs(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let q = 64u * foldedGroup(workgroup, dispatched) + thread;
  if (q >= walk.ownCount) {
    return;
  }
  let isSelf = KIND == EE || KIND == VV;
  let slot = walk.ownSlot + q;
  let ownLo = tree[2u * (walk.boxes + slot)];
  let ownHi = tree[2u * (walk.boxes + slot) + 1u];
  let hi = ownHi.xyz;
  // Half of either side's δ: their sum is the mean of both, the δ of the pair.
  let growth = ownHi.w;
  let lo = ownLo.xyz;
  let bits = u32(ownLo.w);
  let own = cornersOf(slot);
  // In a tree against itself everything before the query has been paired already.
  let firstLeaf = select(0u, q / 8u, isSelf);
  let firstOther = select(0u, q + 1u, isSelf);
  let depth = countLeadingZeros(walk.leaves);
  let query = walk.firstQuery + q;
  let entry = control.oldPairs + query;
  let isWriting = walk.isWriting != 0u;
  var at = 0u;
  var kept = 0u;
  if (isWriting) {
    at = offsets[entry];
    var end = control.demand;
    if (query + 1u < control.queries) {
      end = offsets[entry + 1u];
    }
    kept = end - at;
  }
  let isKept = isWriting && kept <= STASH;
  var count = 0u;
  // The walk: the node to look at, 0 at its end; the next element of a leaf, and how many of that leaf are left.
  var k = select(1u, 0u, isKept);
  var element = 0u;
  var left = 0u;
  var pending: array<u32, PENDING>;
  loop {
    // First every thread goes on to its next few candidates, then all look closer together: threads that run in step
    // would else wait for each one's closer look by itself.
    var found = 0u;
    if (isKept) {
      while (found < PENDING && count + found < kept) {
        pending[found] = offsets[walk.stash + (count + found) * control.queries + query];
        found++;
      }
    }
    while (found < PENDING && (k != 0u || left != 0u)) {
      let isElement = left != 0u;
      let box = 2u * select(walk.nodes + k, walk.boxes + walk.otherSlot + element, isElement);
      let boxLo = tree[box];
      let boxHi = tree[box + 1u].xyz;
      let overlaps = all(boxLo.xyz <= hi) && all(boxHi >= lo) && (bits & u32(boxLo.w)) == 0u;
      if (isElement) {
        if (overlaps && !sharesVertex(slotsOf(own, cornersOf(walk.otherSlot + element)))) {
          pending[found] = element;
          found++;
        }
        element++;
        left--;
      } else {
        let lastLeaf = ((k + 1u) << (countLeadingZeros(k) - depth)) - 1u - walk.leaves;
        let isHit = overlaps && lastLeaf >= firstLeaf;
        let isLeaf = k >= walk.leaves;
        let begin = (k - walk.leaves) * 8u;
        if (isHit && isLeaf) {
          element = max(begin, firstOther);
          left = max(min(begin + 8u, walk.otherCount), element) - element;
        }
        let next = (k + 1u) >> countTrailingZeros(k + 1u);
        k = select(select(next, 0u, next == 1u), 2u * k, isHit && !isLeaf);
      }
    }
    if (found == 0u) {
      break;
    }
    for (var n = 0u; n < found; n++) {
      let slots = slotsOf(own, cornersOf(walk.otherSlot + pending[n]));
      var cut = control.cut;
      if (walk.distances != 0u && control.isPoint == 0u) {
        cut = growth + tree[2u * (walk.boxes + walk.otherSlot + pending[n]) + 1u].w;
      }
      let closer = lookCloser(slots, cut);
      if (isKept || (closer.belongs && !isIgnored(slots) && !isLeftOut(slots))) {
        if (isWriting) {
          pairVertex[at + count] = unusedMarked(slots);
          pairInfo[at + count] = KIND;
          pairNormal[at + count] = vec4f(closer.normal, 0.0);
        } else if (count < STASH) {
          offsets[walk.stash + count * control.queries + query] = pending[n];
        }
        count++;
      }
    }
  }
  if (!isWriting) {
    offsets[entry] = count;
  }
}

// Vertex slots of a pair, side a first; unused ones repeat the last vertex.
fn slotsOf(own: vec3u, other: vec3u) -> vec4u {
  if (KIND == EE) {
    return vec4u(own.xy, other.xy);
  }
  return vec4u(own.x, other);
}

fn unusedMarked(slots: vec4u) -> vec4i {
  if (KIND == VE) {
    return vec4i(vec3i(slots.xyz), -1);
  }
  if (KIND == VV) {
    return vec4i(vec2i(slots.xy), -1, -1);
  }
  return vec4i(slots);
}

// Free points are in no other element, so only elements of triangles and edges can meet in a vertex.
fn sharesVertex(v: vec4u) -> bool {
  if (KIND == VT) {
    return v.x == v.y || v.x == v.z || v.x == v.w;
  }
  if (KIND == EE) {
    return v.x == v.z || v.x == v.w || v.y == v.z || v.y == v.w;
  }
  return false;
}

fn partOf(v: u32) -> u32 {
  return topology[walk.parts + v];
}

// One side wholly in part p, the other wholly in part q, and (p, q) is listed (ignoredParts in proximity.ts).
fn isIgnored(v: vec4u) -> bool {
  if (walk.hasIgnored == 0u) {
    return false;
  }
  let p = partOf(v.x);
  let q = partOf(v.w);
  let second = partOf(v.y);
  if (partOf(v.z) != q || second != select(q, p, KIND == EE)) {
    return false;
  }
  var first = topology[walk.ignoredFirst + p];
  var end = topology[walk.ignoredFirst + p + 1u];
  while (first < end) {
    let middle = (first + end) / 2u;
    let part = topology[walk.ignored + middle];
    if (part == q) {
      return true;
    }
    if (part < q) {
      first = middle + 1u;
    } else {
      end = middle;
    }
  }
  return false;
}

fn isMarked(v: u32) -> bool {
  return (topology[walk.marks + v / 32u] & (1u << (v % 32u))) != 0u;
}

// Each side ascending, the lower edge first: one pair has one key.
fn leftOutKey(v: vec4u) -> vec4u {
  if (KIND == EE) {
    let first = vec2u(min(v.x, v.y), max(v.x, v.y));
    let second = vec2u(min(v.z, v.w), max(v.z, v.w));
    let isOrdered = first.x < second.x || (first.x == second.x && first.y < second.y);
    return select(vec4u(second, first), vec4u(first, second), isOrdered);
  }
  if (KIND == VV) {
    return vec4u(min(v.x, v.y), vec3u(max(v.x, v.y)));
  }
  let lo = min(v.y, min(v.z, v.w));
  let hi = max(v.y, max(v.z, v.w));
  // An edge repeats its second vertex.
  return vec4u(v.x, lo, select(v.y + v.z + v.w - lo - hi, hi, KIND == VE), hi);
}

fn comesBefore(p: vec4u, q: vec4u) -> bool {
  if (p.x != q.x) {
    return p.x < q.x;
  }
  if (p.y != q.y) {
    return p.y < q.y;
  }
  if (p.z != q.z) {
    return p.z < q.z;
  }
  return p.w < q.w;
}

fn isLeftOut(v: vec4u) -> bool {
  if (walk.leftOutCount == 0u || !(isMarked(v.x) && isMarked(v.y) && isMarked(v.z) && isMarked(v.w))) {
    return false;
  }
  let key = leftOutKey(v);
  var first = 0u;
  var end = walk.leftOutCount;
  while (first < end) {
    let middle = (first + end) / 2u;
    let at = walk.leftOutFirst + 4u * middle;
    let other = vec4u(topology[at], topology[at + 1u], topology[at + 2u], topology[at + 3u]);
    if (all(other == key)) {
      return true;
    }
    if (comesBefore(other, key)) {
      first = middle + 1u;
    } else {
      end = middle;
    }
  }
  return false;
}

fn lookCloser(v: vec4u, cut: f32) -> Found {
  let a = positionOf(v.x);
  let b = positionOf(v.y);
  var near: Closest;
  if (KIND == VT) {
    near = closestVertexTriangle(a, b, positionOf(v.z), positionOf(v.w));
  } else if (KIND == EE) {
    near = closestEdgeEdge(a, b, positionOf(v.z), positionOf(v.w));
  } else if (KIND == VE) {
    near = closestVertexEdge(a, b, positionOf(v.z));
  } else {
    near = closestVertexVertex(a, b);
  }
  let d = near.difference;
  let largest = max(abs(d.x), max(abs(d.y), abs(d.z)));
  // Nothing is known of the direction of what is this small, and nothing this close could be dropped.
  if (largest <= CLOSEST_TINY) {
    return Found(true, vec3f(0.0));
  }
  let scaled = d / largest;
  let length = sqrt(dot3(scaled, scaled));
  let n = scaled / length;
  if (largest * length <= cut) {
    return Found(true, n);
  }
  // x: the height of the box corner that is lowest along n, side b along -n; y: the sum of its terms' sizes. A loop whose
  // length the compiler does not know: unrolled, it would double the kernel.
  var lowA = vec2f(FAR, 0.0);
  var highB = vec2f(FAR, 0.0);
  for (var k = 0u; k < walk.corners; k++) {
    let isSideA = k == 0u || (k == 1u && KIND == EE);
    let height = lowest(v[k], a, select(-n, n, isSideA));
    lowA = select(lowA, lower(lowA, height), isSideA);
    highB = select(lower(highB, height), highB, isSideA);
  }
  let apart = lowA.x + highB.x;
  return Found(apart <= cut + MARGIN * max(lowA.y, highB.y), n);
}

fn lower(p: vec2f, q: vec2f) -> vec2f {
  return vec2f(min(p.x, q.x), max(p.y, q.y));
}

// min of n . (c - o) over the corners c of vertex v's box, o the position of the pair's first vertex.
fn lowest(v: u32, o: vec3f, n: vec3f) -> vec2f {
  let lo = vertices[3u * v + 1u].xyz;
  let hi = vertices[3u * v + 2u].xyz;
  let term = n * (select(hi, lo, n > vec3f(0.0)) - o);
  return vec2f(term.x + term.y + term.z, abs(term.x) + abs(term.y) + abs(term.z));
}
