// β of the extrapolation after a pass (pull-back/close-sweep.wgsl), by one thread. warmTail has counted the pass.
fn turnMomentum(turned: bool) {
  let isFirst = control.sweepsDone == 1u;
  let k = select(control.momentumSteps, 0u, turned || isFirst);
  // The first pass applies the multipliers of the last step, and the round follows it.
  let isFurther = pullBack.strainColours > 0u && control.sweepsDone > pullBack.sweeps;
  control.momentum = min(select(MAX_MOMENTUM, MAX_STRAIN_MOMENTUM, isFurther), f32(k) / (f32(k) + 3.0));
  control.momentumSteps = k + select(1u, 0u, isFirst);
}
