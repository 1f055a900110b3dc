// What a projection of Algorithm 1 does to λ of a contact (changeOf of backward/sweep-queue.wgsl). The first sweep of a step
// finds the rounds of the queue (backward/rounds.wgsl).
//
// Δλ = max(0, λ − s/K) − λ
var<private> isFirstPass: bool;

fn openPass() {
  isFirstPass = control.sweepsDone == 0u;
}

fn seeksRounds() -> bool {
  return isFirstPass;
}

fn changeOf(c: u32, state: vec4f, value: f32) -> f32 {
  let old = state.x;
  let lambda = max(0.0, old - value / state.y);
  let change = lambda - old;
  if (change != 0.0) {
    setState(c, vec4f(lambda, state.yzw));
  }
  return change;
}
