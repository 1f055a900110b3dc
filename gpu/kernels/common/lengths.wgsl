// #include "common/range.wgsl"

// Length without overflow or underflow of the squares: by the largest component first.
fn lengthOf(d: vec3f) -> f32 {
  let largest = max(abs(d.x), max(abs(d.y), abs(d.z)));
  if (!(largest > 0.0)) {
    return 0.0;
  }
  let s = d / largest;
  return largest * sqrt(s.x * s.x + s.y * s.y + s.z * s.z);
}

// Unit vector to a few u, or 0 where d is 0 or out of range. Scaling first keeps the squares away from the subnormals.
fn directionOf(d: vec3f) -> vec3f {
  let largest = max(abs(d.x), max(abs(d.y), abs(d.z)));
  if (!(largest > 0.0) || !isSumInRange(abs(d.x) + abs(d.y) + abs(d.z))) {
    return vec3f(0.0);
  }
  let s = d / largest;
  return s / sqrt(s.x * s.x + s.y * s.y + s.z * s.z);
}
