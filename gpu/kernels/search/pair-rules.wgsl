// Pairs that are excluded whatever their distance: those of two ignored parts, and those of the exclusion list. For
// search/walk-pairs.wgsl, whose `walk` and `ofKind` say where in `topology` the lists are, and which has isOfTriangles.

// The part of each; its top bit says that the vertex is on a seam.
fn partsOf(v: vec4u) -> vec4u {
  return vec4u(
    topology[walk.parts + v.x],
    topology[walk.parts + v.y],
    topology[walk.parts + v.z],
    topology[walk.parts + v.w],
  );
}

// Whether a side that is a vertex or an edge lies on a seam; 1 = the vertex does.
fn hasSeam(seam: vec4u) -> bool {
  return select((seam.x & seam.y) | (seam.z & seam.w), seam.x, isOfTriangles()) != 0u;
}

// One side wholly in part p, the other wholly in part q, (p, q) is listed, and no side that is a vertex or an edge lies on
// a seam (ignoredParts in proximity.ts).
fn isIgnored(v: vec4u) -> bool {
  if (walk.hasIgnored == 0u) {
    return false;
  }
  let words = partsOf(v);
  let part = words & vec4u(~ON_SEAM);
  let p = part.x;
  let q = part.w;
  if (hasSeam(words >> vec4u(31u)) || part.z != q || part.y != select(p, q, isOfTriangles())) {
    return false;
  }
  var first = topology[walk.ignoredFirst + p];
  var end = topology[walk.ignoredFirst + p + 1u];
  while (first < end) {
    let middle = (first + end) / 2u;
    let listed = topology[walk.ignored + middle];
    if (listed == q) {
      return true;
    }
    first = select(first, middle + 1u, listed < q);
    end = select(middle, end, listed < q);
  }
  return false;
}

fn isMarked(v: u32) -> bool {
  return (topology[walk.marks + v / MARKS_PER_WORD] & (1u << (v % MARKS_PER_WORD))) != 0u;
}

// Each side ascending, the lower edge first: one pair has one key. The host pads the sides of particles as these are.
fn excludedKey(v: vec4u) -> vec4u {
  if (!isOfTriangles()) {
    let first = vec2u(min(v.x, v.y), max(v.x, v.y));
    let second = vec2u(min(v.z, v.w), max(v.z, v.w));
    let isOrdered = first.x < second.x || (first.x == second.x && first.y < second.y);
    return select(vec4u(second, first), vec4u(first, second), isOrdered);
  }
  let lo = min(v.y, min(v.z, v.w));
  let hi = max(v.y, max(v.z, v.w));
  return vec4u(v.x, lo, v.y + v.z + v.w - lo - hi, hi);
}

// Without branches, which would cost more to compile than they save.
fn comesBefore(p: vec4u, q: vec4u) -> bool {
  let less = p < q;
  let same = p == q;
  return less.x | (same.x & (less.y | (same.y & (less.z | (same.z & less.w)))));
}

fn isExcluded(v: vec4u) -> bool {
  if (ofKind.excludedCount == 0u || !(isMarked(v.x) & isMarked(v.w))) {
    return false;
  }
  let key = excludedKey(v);
  var first = 0u;
  var end = ofKind.excludedCount;
  while (first < end) {
    let middle = (first + end) / 2u;
    let at = ofKind.excludedFirst + 4u * middle;
    let other = vec4u(topology[at], topology[at + 1u], topology[at + 2u], topology[at + 3u]);
    if (all(other == key)) {
      return true;
    }
    let isBefore = comesBefore(other, key);
    first = select(first, middle + 1u, isBefore);
    end = select(middle, end, isBefore);
  }
  return false;
}
