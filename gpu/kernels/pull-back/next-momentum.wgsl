// β of the extrapolation after a pass (pull-back/close-sweep.wgsl), by one thread. warmTail has counted the pass.
fn turnMomentum(turned: bool) {
  let isFirst = control.sweepsDone == 1u;
  let k = select(control.momentumSteps, 0u, turned || isFirst);
  control.momentum = min(MAX_MOMENTUM, f32(k) / (f32(k) + 3.0));
  control.momentumSteps = k + select(1u, 0u, isFirst);
}
