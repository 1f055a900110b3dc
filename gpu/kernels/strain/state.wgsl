// What the pull-back keeps of an element with strain limits: the multipliers of both its sets (sweep.wgsl), those after the
// sweep before, and R.
struct StrainState {
  upper: mat3x3f,
  lower: mat3x3f,
  upperBefore: mat3x3f,
  lowerBefore: mat3x3f,
  // two columns for a triangle; 0 = not known yet
  frame: mat3x3f,
}

fn isZero(m: mat3x3f) -> bool {
  return all(m[0] == vec3f(0.0)) && all(m[1] == vec3f(0.0)) && all(m[2] == vec3f(0.0));
}
