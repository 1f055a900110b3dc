// Δλ of a pass of the pull-back over candidate c (pull-back/warm-sweep.wgsl), for kernels that bind control and candidates. The
// rounds of its queue are colours, which are known before the first pass (pull-back/colours.wgsl).
// #include "pull-back/pass-momentum.wgsl"

fn seeksRounds() -> bool {
  return false;
}

fn changeOf(c: u32, state: vec4f, value: f32) -> f32 {
  let begun = select(state.x + passMomentum * (state.x - state.w), 0.0, isFirstPass);
  let lambda = select(max(0.0, begun - value / state.y), state.x, isFirstPass);
  setState(c, vec4f(lambda, state.y, state.z, state.x));
  return lambda - begun;
}
