// Relative: what |x_i − x_j| in float32 may err by. Less is no excess.
const EXCESS_ROUNDING: f32 = 1e-6;

// What an edge of this difference is above its limit.
fn excessOf(d: vec3f, limit: f32) -> f32 {
  return max(0.0, lengthOf(d) - limit);
}
