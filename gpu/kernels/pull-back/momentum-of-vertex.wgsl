// The work of pull-back/momentum.wgsl on one vertex, for kernels that bind control, y, yFrom and yLast.

// The vertex's part of ⟨y_from − y, y − y_last⟩.
fn turnOf(i: u32) -> f32 {
  let now = y[i];
  let parts = (yFrom[i] - now) * (now - yLast[i]);
  var own = 0.0;
  for (var c = 0u; c < axes(); c++) {
    own += parts[c];
  }
  return own;
}

fn extrapolateVertex(i: u32) {
  // Before the first sweep there is no last one: y is where it begins.
  let isFirst = control.sweepsDone == 1u;
  let now = y[i];
  let to = select(now + control.momentum * (now - yLast[i]), now, isFirst);
  y[i] = to;
  yFrom[i] = to;
  yLast[i] = now;
}
