// Geometry of one pair; mirrors measurePair of src/solver/cpu/certificate.ts (method.md 4.3).
//
// The direction of the closest points comes first; where it certifies clearly less than their distance (long elements,
// tiny distances) the face normal, or the cross product of the edges, is tried both ways, and so is the pair's last normal.
// The gap is at most the distance, because no plane can part two sets by more than that.
// #include "common/corners.wgsl"
// #include "common/closest.wgsl"
// #include "common/lengths.wgsl"
// #include "common/heights.wgsl"

struct Measured {
  weight: vec4f,
  distance: f32,
  normal: vec3f,
  gap: f32,
  heights: Heights,
}

// The closest direction is trusted while its gap keeps this share of the distance.
const TRUSTED_SHARE: f32 = 0.9;

fn closestOfPair(kind: u32, p: Corners) -> Closest {
  if (kind == VT) {
    return closestVertexTriangle(p.p0, p.p1, p.p2, p.p3);
  }
  if (kind == EE) {
    return closestEdgeEdge(p.p0, p.p1, p.p2, p.p3);
  }
  if (kind == VE) {
    return closestVertexEdge(p.p0, p.p1, p.p2);
  }
  return closestVertexVertex(p.p0, p.p1);
}

// Unit normal of the triangle (VT), or of the plane along both edges (EE); 0 where there is none.
fn normalOfPlanes(kind: u32, p: Corners) -> vec3f {
  if (kind == VT) {
    return directionOf(cross3(directionOf(p.p2 - p.p1), directionOf(p.p3 - p.p1)));
  }
  if (kind == EE) {
    return directionOf(cross3(directionOf(p.p1 - p.p0), directionOf(p.p3 - p.p2)));
  }
  return vec3f(0.0);
}

fn isVector(n: vec3f) -> bool {
  return n.x != 0.0 || n.y != 0.0 || n.z != 0.0;
}

fn measurePair(kind: u32, p: Corners, last: vec3f) -> Measured {
  let nearest = closestOfPair(kind, p);
  let distance = lengthOf(nearest.difference);
  var normal = directionOf(nearest.difference);
  var heights = measureHeights(kind, p, normal);
  if (!(distance > 0.0 && heights.gap >= TRUSTED_SHARE * distance && heights.gap > 2.0 * heights.error)) {
    // In a fixed order, the first of those that certify most, g − 2e. A vector of 0 certifies nothing and is passed over.
    var hasOne = isVector(normal);
    let plane = normalOfPlanes(kind, p);
    for (var k = 0u; k < 3u; k++) {
      var candidate = last;
      if (k == 0u) {
        candidate = plane;
      } else if (k == 1u) {
        candidate = -plane;
      }
      if (!isVector(candidate)) {
        continue;
      }
      let tried = measureHeights(kind, p, candidate);
      if (!hasOne || tried.gap - 2.0 * tried.error > heights.gap - 2.0 * heights.error) {
        hasOne = true;
        normal = candidate;
        heights = tried;
      }
    }
  }
  return Measured(nearest.weight, distance, normal, min(heights.gap, distance), heights);
}
