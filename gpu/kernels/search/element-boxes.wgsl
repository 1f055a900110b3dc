// Boxes and mask bits of all elements that are queries or leaves of a tree, in leaf order (mirrors fillHulls
// in src/solver/cpu/hulls.ts): the hull of the vertices' trust boxes, grown on every side; the bits that all vertices have,
// less PASSIVE under SKIP where the element is at the border of a kinematic region (src/solver/exclusion-rules.ts).
//
// In: control (growth), topology (the vertices of the elements, and the SetOfSlots of each set), box, mask of the vertices.
// Out: tree, two vec4f a slot: lo and the bits as a number, hi and the growth; cells, the same box for the walks. Minima and
// maxima are exact; the growth is rounded once.
//
// Also marks the pairs of the old P that a partial search takes over, all of whose vertices keep their boxes
// (search/keep-pairs.wgsl); a thread a block of pairs. In: pairVertex. Out: offsets.
// #include "search/marks.wgsl"
// #include "search/extent.wgsl"
// #include "search/cells.wgsl"

@group(0) @binding(0) var<uniform> slots: ElementSlots;
@group(0) @binding(1) var<uniform> control: SearchControl;
@group(0) @binding(2) var<storage, read> topology: array<u32>;
@group(0) @binding(3) var<storage, read> box: array<f32>;
@group(0) @binding(4) var<storage, read> mask: array<u32>;
@group(0) @binding(5) var<storage, read_write> tree: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> cells: array<vec4u>;
// of the boxes of vertices that do not rest (search/trust-boxes.wgsl)
@group(0) @binding(7) var<storage, read> extent: array<u32, 6>;
// search/marks.wgsl
@group(0) @binding(8) var<storage, read_write> offsets: array<u32>;
// i32[4P] vertex slots, -1 where unused
@group(0) @binding(9) var<storage, read> pairVertex: array<vec4i>;

// The largest float32 stands for infinity, which WGSL does not promise.
const FAR: f32 = 3.4028234e38;

fn distanceOf(v: u32) -> f32 {
  return bitcast<f32>(topology[slots.distances + v]);
}

fn isAtBorder(slot: u32) -> bool {
  return slots.border != 0u && (topology[slots.border + slot / MARKS_PER_WORD] & (1u << (slot % MARKS_PER_WORD))) != 0u;
}

// Half of δ on each side (docs/method.md, S3): half of the element's largest where parts have their own.
fn growthOf(hasDistances: bool, largest: f32) -> f32 {
  return select(control.growth, 0.5 * largest, hasDistances);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn boxElements(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let n = WORKGROUP_SIZE * foldedGroup(workgroup, dispatched) + thread;
  if (n < markBlocks(control.oldPairs)) {
    markBlock(n);
  }
  if (n < slots.count) {
    boxElement(n);
  }
}

fn isKept(v: i32) -> bool {
  return v < 0 || (mask[max(v, 0)] & KEPT) != 0u;
}

fn markBlock(block: u32) {
  let first = MARKED_PAIRS * block;
  let count = min(MARKED_PAIRS, control.oldPairs - first);
  var marks = 0u;
  for (var n = 0u; n < count; n++) {
    let v = pairVertex[first + n];
    marks |= select(0u, 1u << n, isKept(v.x) && isKept(v.y) && isKept(v.z) && isKept(v.w));
  }
  offsets[block] = countOneBits(marks);
  offsets[control.entries + block] = marks;
}

fn boxElement(slot: u32) {
  // The set to which the slot belongs.
  var at = slots.sets;
  for (var s = 1u; s < slots.setCount; s++) {
    let next = slots.sets + s * SET_WORDS;
    at = select(at, next, topology[next] <= slot);
  }
  let size = topology[at + 2u];
  let first = topology[at + 1u] + size * (slot - topology[at]);
  // 3, in a form that the compiler does not know, as axes() of common/parameters.wgsl.
  let three = 3u * min(slots.count, 1u);
  let hasDistances = slots.distances != 0u && control.isPoint == 0u;
  var largest = 0.0;
  var lo = vec3f(FAR);
  var hi = vec3f(-FAR);
  var bits = 0xffffffffu;
  for (var corner = 0u; corner < size; corner++) {
    let v = topology[first + corner];
    for (var c = 0u; c < three; c++) {
      lo[c] = min(lo[c], box[6u * v + c]);
      hi[c] = max(hi[c], box[6u * v + c + 3u]);
    }
    bits &= mask[v];
    if (hasDistances) {
      largest = max(largest, distanceOf(v));
    }
  }
  let growth = growthOf(hasDistances, largest);
  lo -= growth;
  hi += growth;
  if (control.skipsKinematic != 0u && isAtBorder(slot)) {
    bits &= ~PASSIVE;
  }
  tree[2u * slot] = vec4f(lo, f32(bits));
  tree[2u * slot + 1u] = vec4f(hi, growth);
  cells[slots.first + slot] = cellsOf(lo, hi, bits);
}

// A grid finer than this share of the coordinates would be finer than they are.
const FINEST: f32 = 1e-6;
const SMALLEST_SIZE: f32 = 1e-20;

fn cellsOf(lo: vec3f, hi: vec3f, bits: u32) -> vec4u {
  // Halves: a difference of two coordinates might have no float32. Where all vertices rest there is no extent, and any grid serves.
  let isAny = extent[0] != EXTENT_NONE;
  let origin = select(vec3f(0.0), 0.5 * vec3f(valueOf(extent[0]), valueOf(extent[1]), valueOf(extent[2])), isAny);
  let end = select(vec3f(0.0), 0.5 * vec3f(valueOf(~extent[3]), valueOf(~extent[4]), valueOf(~extent[5])), isAny);
  let size = max(max(end - origin, FINEST * max(abs(origin), abs(end))), vec3f(SMALLEST_SIZE));
  let scale = f32(CELL_TOP - 1u) / size;
  // What lies outside is moved to the edge of the grid before it is scaled, by which it might become infinite.
  let low = min(clamp(0.5 * lo - origin, vec3f(0.0), size) * scale, vec3f(f32(CELL_TOP - 1u)));
  let high = min(clamp(0.5 * hi - origin, vec3f(0.0), size) * scale, vec3f(f32(CELL_TOP - 1u)));
  return packCells(vec3u(max(low - 1.0, vec3f(0.0))), vec3u(high + 1.0), bits);
}
