// Proximity search, one thread a query, the queries of one kind of pairs after those of another, in workgroups of their own:
// walks a tree without a stack, looks closer at every element whose box overlaps, and counts what belongs into P, or writes it
// (mirrors overlapLeaf in src/solver/bvh.ts and offer in src/solver/cpu/walk.ts). After a hit the walk goes to node 2k, after a
// miss or a leaf to (k + 1) >> ctz(k + 1), and it ends back at 1. In a tree against itself it begins at the query's own leaf:
// all before that has been paired already.
//
// Hulls of trust boxes that overlap after their growth (touching counts) make a pair unless they have a mask bit or a
// vertex in common, belong to two ignored parts or are excluded (src/mesh/excluded-pairs.ts). A pair is dropped only if n,
// the direction of its closest points, keeps it further apart than the cut wherever in the boxes its vertices are:
// lo - hi > cut + 20 u L, where L bounds the terms of every height used, u = 2^-23 (DROP_MARGIN). A pair with a term that is out of
// range, as with a vertex at rest that is that far away, is kept.
//
// Counting and writing are one pipeline run twice with another flag, not two: two compilations may round differently,
// and a pair that is counted once and not written, or the reverse, would leave P inconsistent.
//
// The counting pass stores the pairs that it finds, so that writing need not walk again: seven in each chunk of eight
// words, whose last word is the place of the next chunk. A query has one chunk, and takes more from a common store
// while there are any; where they are stored depends on the order of the threads; what is found does not.
//
// In: walk, control, topology (also the WalkOfKind of each kind), tree, cells, vertices; writing: offsets. Out: counting:
// offsets; writing: pairs from each query's offset on, in walk order, with their normal, delta_p = 0 and their kind.
// #include "common/dispatch.wgsl"
// #include "common/closest.wgsl"
// #include "common/range.wgsl"
// #include "search/cells.wgsl"
// #include "search/pair-rules.wgsl"
// #include "search/marks.wgsl"

// Vertices are walked against triangles, everything else as edges against edges: rods, and particles, which are edges from a
// vertex to itself. One pipeline for all kinds: it is the one that takes longest to compile.

// Pairs of a chunk. Its last word says where the next chunk is.
const FINDS: u32 = CHUNK_WORDS - 1u;
// No chunk was left: the writing pass searches for the pairs of this query again.
const NO_CHUNK: u32 = 0xffffffffu;
// Candidates that a thread collects before it examines them.
const PENDING: u32 = 16u;

@group(0) @binding(0) var<uniform> walk: SearchWalk;
@group(0) @binding(1) var<uniform> control: SearchControl;
@group(0) @binding(2) var<storage, read> topology: array<u32>;
// two vec4f a slot (search/element-boxes.wgsl)
@group(0) @binding(3) var<storage, read> tree: array<vec4f>;
// nodes and slots (search/cells.wgsl)
@group(0) @binding(4) var<storage, read> cells: array<vec4u>;
// three vec4f a vertex: x, its box's lo and hi (search/trust-boxes.wgsl)
@group(0) @binding(5) var<storage, read> vertices: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> offsets: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> pairVertex: array<vec4i>;
@group(0) @binding(8) var<storage, read_write> pairInfo: array<u32>;
@group(0) @binding(9) var<storage, read_write> pairNormal: array<vec4f>;

// Above every height
const FAR: f32 = 3.4028234e38;

// The vertices of an element, from `first` on; the last one is repeated where there are fewer than three.
fn cornersOf(first: u32, size: u32) -> vec3u {
  return vec3u(topology[first], topology[first + min(1u, size - 1u)], topology[first + size - 1u]);
}

fn positionOf(v: u32) -> vec3f {
  return vertices[3u * v].xyz;
}

fn isOfTriangles() -> bool {
  return ofKind.kind == VT;
}

fn wordOf(chunk: u32, place: u32) -> u32 {
  return walk.chunks + 1u + CHUNK_WORDS * chunk + place;
}

struct Found {
  belongs: bool,
  normal: vec3f,
}

// Of the kind whose queries the workgroup has.
var<private> ofKind: WalkOfKind;

// Returns the number of the workgroup among those of its kind.
fn enterKind(group: u32) -> u32 {
  var at = walk.kinds;
  for (var k = 1u; k < walk.kindCount; k++) {
    let next = walk.kinds + k * WALK_WORDS;
    at = select(at, next, topology[next] <= group);
  }
  ofKind = WalkOfKind(
    topology[at],
    topology[at + 1u],
    topology[at + 2u],
    topology[at + 3u],
    topology[at + 4u],
    topology[at + 5u],
    topology[at + 6u],
    topology[at + 7u],
    topology[at + 8u],
    topology[at + 9u],
    topology[at + 10u],
    topology[at + 11u],
    topology[at + 12u],
    topology[at + 13u],
    topology[at + 14u],
    topology[at + 15u],
    topology[at + 16u],
  );
  return group - ofKind.firstGroup;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn walkPairs(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let q = WORKGROUP_SIZE * enterKind(foldedGroup(workgroup, dispatched)) + thread;
  if (q >= ofKind.ownCount) {
    return;
  }
  let isSelf = ofKind.isSelf != 0u;
  let slot = ofKind.ownSlot + q;
  let ownCells = cells[walk.boxes + slot];
  let limit = limitOf(ownCells.xyz);
  let bits = ownCells.w;
  let ownLo = tree[2u * slot].xyz;
  let ownHi = tree[2u * slot + 1u];
  let own = cornersOf(ofKind.ownVertices + ofKind.ownSize * q, ofKind.ownSize);
  let query = ofKind.firstQuery + q;
  let entry = markBlocks(control.oldPairs) + query;
  let isWriting = walk.isWriting != 0u;
  var at = 0u;
  var kept = 0u;
  if (isWriting) {
    at = atomicLoad(&offsets[entry]);
    var end = control.demand;
    if (query + 1u < control.queries) {
      end = atomicLoad(&offsets[entry + 1u]);
    }
    kept = end - at;
  }
  let isKept = isWriting && (kept <= FINDS || atomicLoad(&offsets[wordOf(query, FINDS)]) != NO_CHUNK);
  // What is kept: the chunk in use, and how many of its pairs have been read or written.
  var chunk = query;
  var used = 0u;
  var count = 0u;
  // The walk: the node to look at, 0 at its end; the next element of a leaf, and how many of that leaf are left.
  var k = select(1u, ofKind.leaves + q / LEAF_SIZE, isSelf);
  if (isKept) {
    k = 0u;
  }
  let firstOther = select(0u, q + 1u, isSelf);
  var element = 0u;
  var left = 0u;
  var pending: array<u32, PENDING>;
  loop {
    // First every thread collects its next candidates, then all examine them together: threads that run in step would
    // otherwise wait for each other's examinations.
    var found = 0u;
    if (isKept) {
      while (found < PENDING && count + found < kept) {
        if (used == FINDS) {
          chunk = atomicLoad(&offsets[wordOf(chunk, FINDS)]);
          used = 0u;
        }
        pending[found] = atomicLoad(&offsets[wordOf(chunk, used)]);
        used++;
        found++;
      }
    }
    while (found < PENDING && (k != 0u || left != 0u)) {
      let isElement = left != 0u;
      let box = cells[select(ofKind.nodes + k, walk.boxes + ofKind.otherSlot + element, isElement)];
      let overlaps = overlapsInCells(limit, box.xyz) && (bits & box.w) == 0u;
      if (isElement) {
        if (overlaps) {
          pending[found] = element;
          found++;
        }
        element++;
        left--;
      } else {
        let isLeaf = k >= ofKind.leaves;
        if (overlaps && isLeaf) {
          let begin = (k - ofKind.leaves) * LEAF_SIZE;
          element = max(begin, firstOther);
          left = max(min(begin + LEAF_SIZE, ofKind.otherCount), element) - element;
        }
        let next = (k + 1u) >> countTrailingZeros(k + 1u);
        k = select(select(next, 0u, next == 1u), 2u * k, overlaps && !isLeaf);
      }
    }
    if (found == 0u) {
      break;
    }
    for (var n = 0u; n < found; n++) {
      let other = ofKind.otherSlot + pending[n];
      let corners = cornersOf(ofKind.otherVertices + ofKind.otherSize * pending[n], ofKind.otherSize);
      let slots = slotsOf(own, corners);
      if (!isKept && (!overlapsExactly(ownLo, ownHi.xyz, other) || sharesVertex(slots))) {
        continue;
      }
      var cut = control.cut;
      if (walk.distances != 0u && control.isPoint == 0u) {
        cut = ownHi.w + tree[2u * other + 1u].w;
      }
      // A pair that was kept belongs to P: only n is needed.
      let closer = lookCloser(slots, cut, select(4u, 0u, isKept));
      if (isKept || (closer.belongs && !isIgnored(slots) && !isExcluded(slots))) {
        if (isWriting) {
          pairVertex[at + count] = asInPairs(slots);
          pairInfo[at + count] = ofKind.kind;
          pairNormal[at + count] = vec4f(closer.normal, 0.0);
        } else {
          if (used == FINDS && chunk != NO_CHUNK) {
            chunk = nextChunk(chunk, query);
            used = 0u;
          }
          if (chunk != NO_CHUNK) {
            atomicStore(&offsets[wordOf(chunk, used)], pending[n]);
            used++;
          }
        }
        count++;
      }
    }
  }
  if (!isWriting) {
    atomicStore(&offsets[entry], count);
  }
}

// Takes a chunk from the store and links it to another one; when all are in use, links NO_CHUNK, also to the query's own.
fn nextChunk(chunk: u32, query: u32) -> u32 {
  var next = control.queries + atomicAdd(&offsets[walk.chunks], 1u);
  var holder = chunk;
  if (next >= 2u * control.queries) {
    next = NO_CHUNK;
    holder = query;
  }
  atomicStore(&offsets[wordOf(holder, FINDS)], next);
  return next;
}

// Vertex slots of a pair, side a first: one and three, or two and two.
fn slotsOf(own: vec3u, other: vec3u) -> vec4u {
  return select(vec4u(own.xy, other.xy), vec4u(own.x, other), isOfTriangles());
}

// As P has them: each vertex once, then -1.
fn asInPairs(v: vec4u) -> vec4i {
  if (ofKind.isOfPoints == 0u) {
    return vec4i(v);
  }
  return vec4i(i32(v.x), i32(v.z), select(i32(v.w), -1, v.w == v.z), -1);
}

fn overlapsExactly(lo: vec3f, hi: vec3f, slot: u32) -> bool {
  return all(tree[2u * slot].xyz <= hi) && all(tree[2u * slot + 1u].xyz >= lo);
}

fn sharesVertex(v: vec4u) -> bool {
  let isAcross = v.x == v.z || v.x == v.w;
  return isAcross || select(v.y == v.z || v.y == v.w, v.x == v.y, isOfTriangles());
}

// Whether a pair belongs into P, judged by its first `corners` slots, and n.
fn lookCloser(v: vec4u, cut: f32, corners: u32) -> Found {
  let a = positionOf(v.x);
  // A particle has one turn: to the other edge, or to the particle that this is.
  let turns = select(select(4u, 1u, ofKind.isOfPoints != 0u), 3u, isOfTriangles());
  let near = closestInTurns(a, positionOf(v.y), positionOf(v.z), positionOf(v.w), !isOfTriangles(), turns);
  let d = near.difference;
  let largest = max(abs(d.x), max(abs(d.y), abs(d.z)));
  // Nothing is known of the direction of what is this small, and nothing this close could be dropped; nor of what is out of range.
  if (largest <= CLOSEST_TINY || !isSumInRange(abs(d.x) + abs(d.y) + abs(d.z))) {
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
  // The sum of all of these: a minimum or maximum may drop what is out of range.
  var sizes = 0.0;
  for (var k = 0u; k < corners; k++) {
    let isSideA = k == 0u || (k == 1u && !isOfTriangles());
    let height = lowest(v[k], a, select(-n, n, isSideA));
    sizes += height.y;
    lowA = select(lowA, lower(lowA, height), isSideA);
    highB = select(lower(highB, height), highB, isSideA);
  }
  let apart = lowA.x + highB.x;
  return Found(!isSumInRange(sizes) || apart <= cut + DROP_MARGIN * max(lowA.y, highB.y), n);
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
