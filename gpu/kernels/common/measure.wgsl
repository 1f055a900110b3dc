// Geometry of one pair (docs/method.md, S1): closest points, and the normal that certifies the largest gap. Mirrors measurePair
// of src/solver/cpu/certificate.ts.
//
// The direction of the closest points comes first; where it certifies clearly less than their distance (long elements,
// tiny distances) the face normal, or the cross product of the edges, is tried both ways, and so is the pair's last normal.
// #include "common/corners.wgsl"
// #include "common/closest.wgsl"
// #include "common/lengths.wgsl"
// #include "common/long-heights.wgsl"

struct Measured {
  weight: vec4f,
  distance: f32,
  normal: vec3f,
  gap: f32,
  heights: Heights,
}

fn closestOfPair(kind: u32, p: Corners) -> Closest {
  // A vertex and an edge take the turn of a triangle's first side; for two vertices that side is a point.
  let turns = select(1u, select(3u, 4u, kind == EE), kind <= EE);
  return closestInTurns(p.p0, p.p1, select(p.p2, p.p1, kind == VV), p.p3, kind == EE, turns);
}

// Unit normal of the triangle (VT), or of the plane along both edges (EE); 0 where there is none.
fn normalOfPlanes(kind: u32, p: Corners) -> vec3f {
  if (kind > EE) {
    return vec3f(0.0);
  }
  let isEdges = kind == EE;
  let u = select(p.p2 - p.p1, p.p1 - p.p0, isEdges);
  let v = select(p.p3 - p.p1, p.p3 - p.p2, isEdges);
  return directionOf(cross3(directionOf(u), directionOf(v)));
}

// The direction made perpendicular to the longer edge of a pair of edges, or to the edge of a vertex and an edge; 0 where that is
// not long. The difference of closest points on a long edge leans along it by the rounding of their place on it, and its
// ends are then at different heights.
fn levelledNormal(kind: u32, p: Corners, direction: vec3f) -> vec3f {
  let first = p.p1 - p.p0;
  let second = select(p.p2 - p.p1, p.p3 - p.p2, kind == EE);
  let edge = select(second, first, kind == EE && extentOf(first) > extentOf(second));
  if (kind == VT || kind == VV || !(extentOf(edge) > LONG_SPREAD)) {
    return vec3f(0.0);
  }
  let along = directionOf(edge);
  return directionOf(direction - dot3(direction, along) * along);
}

fn isVector(n: vec3f) -> bool {
  return n.x != 0.0 || n.y != 0.0 || n.z != 0.0;
}

fn measurePair(kind: u32, p: Corners, last: vec3f) -> Measured {
  return measureNearest(kind, p, closestOfPair(kind, p), last);
}

fn measureNearest(kind: u32, p: Corners, nearest: Closest, last: vec3f) -> Measured {
  let distance = lengthOf(nearest.difference);
  var candidate = directionOf(nearest.difference);
  var normal = candidate;
  var hasOne = isVector(candidate);
  var heights: Heights;
  // In a fixed order, the first of those that certify most, g − 2e: the closest direction, which is enough where it is to be
  // trusted, the normal of the planes both ways, the last normal, the levelled one. A vector of 0 certifies nothing and is
  // skipped.
  var tries = 1u;
  for (var k = 0u; k < tries; k++) {
    if (k == 1u) {
      candidate = normalOfPlanes(kind, p);
    } else if (k == 2u) {
      candidate = -candidate;
    } else if (k == 3u) {
      candidate = last;
    } else if (k == 4u) {
      candidate = levelledNormal(kind, p, directionOf(nearest.difference));
    }
    if (k > 0u && !isVector(candidate)) {
      continue;
    }
    let tried = measureAnyHeights(kind, p, candidate);
    if (k == 0u) {
      heights = tried;
      if (!(distance > 0.0 && tried.gap >= TRUSTED_SHARE * distance && isCertified(tried.gap, tried.error))) {
        tries = 5u;
      }
    } else if (!hasOne || tried.gap - 2.0 * tried.error > heights.gap - 2.0 * heights.error) {
      hasOne = true;
      normal = candidate;
      heights = tried;
    }
  }
  return Measured(nearest.weight, distance, normal, gapOf(heights, distance), heights);
}
