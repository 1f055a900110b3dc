// What a projection of Algorithm 1 does to λ of a contact (changeOf of backward/sweep-queue.wgsl).
//
// Δλ = max(0, λ − s/K) − λ
fn openPass() {}

fn changeOf(c: u32, state: vec4f, value: f32) -> f32 {
  let old = state.x;
  let lambda = max(0.0, old - value / state.y);
  let change = lambda - old;
  if (change != 0.0) {
    setState(c, vec4f(lambda, state.yzw));
  }
  return change;
}
