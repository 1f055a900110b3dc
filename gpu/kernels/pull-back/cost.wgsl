// What a step of the pull-back costs, over what a cheap one does: at least 1. Of kernels with `control` and `pullBack`. Mirrors
// costOfStep (src/solver/cpu/poor-steps.ts).
fn costOfStep() -> f32 {
  return max(1.0, f32(control.pairCount) / pullBack.cheapPairs);
}
