// The largest part of a motion in leaps under which its length is under one leap: below 1/sqrt(3), rounding included.
const SURELY_WITHIN: f32 = 0.57;

// Engine units, where an edge is about 1. WGSL promises no quotient by what is near the subnormals; a motion that short is
// within any leap that is not just as short, and no motion at all otherwise.
const SMALLEST_DIVISOR: f32 = 1e-30;

// By the exponent (common/range.wgsl).
fn isFinite(size: f32) -> bool {
  return (bitcast<u32>(size) >> 23u) < 255u;
}

// Where a vertex gets at most before the next search.
fn leapEnd(at: vec3f, to: vec3f, leap: f32) -> vec3f {
  let d = to - at;
  let largest = max(abs(d.x), max(abs(d.y), abs(d.z)));
  // A vertex that no element has may have a motion beyond the range of float32. Any end serves.
  if (!isFinite(largest)) {
    return at;
  }
  // Targets may lie so far away that the square of the distance has no float32: take it in units of the largest part.
  if (largest <= SURELY_WITHIN * leap) {
    return to;
  }
  let unit = d / max(largest, SMALLEST_DIVISOR);
  let length = sqrt(unit.x * unit.x + unit.y * unit.y + unit.z * unit.z);
  let share = leap / max(length, 1.0) / max(largest, SMALLEST_DIVISOR);
  if (share >= 1.0) {
    return to;
  }
  return at + share * d;
}
