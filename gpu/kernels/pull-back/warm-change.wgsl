// Δλ of a pass of the pull-back over candidate c (pull-back/warm-sweep.wgsl), for kernels that bind control and candidates.
fn changeOf(c: u32, state: vec4f, value: f32) -> f32 {
  let isFirst = control.sweepsDone == 0u;
  let begun = select(state.x + control.momentum * (state.x - state.w), 0.0, isFirst);
  let lambda = select(max(0.0, begun - value / state.y), state.x, isFirst);
  candidates[c].state.x = lambda;
  candidates[c].state.w = state.x;
  return lambda - begun;
}
