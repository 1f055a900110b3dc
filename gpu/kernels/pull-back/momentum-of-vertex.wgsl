// What pull-back/momentum.wgsl does a vertex, for kernels that bind control, y, yFrom and yLast.

// The vertex's part of ⟨y_from − y, y − y_last⟩.
fn turnOf(i: u32) -> f32 {
  var own = 0.0;
  for (var c = 0u; c < axes(); c++) {
    let k = 3u * i + c;
    let now = y[i][c];
    own += (yFrom[k] - now) * (now - yLast[k]);
  }
  return own;
}

fn extrapolateVertex(i: u32) {
  // Before the first sweep there is no last one: y is where it begins.
  let isFirst = control.sweepsDone == 1u;
  for (var c = 0u; c < axes(); c++) {
    let k = 3u * i + c;
    let now = y[i][c];
    let to = select(now + control.momentum * (now - yLast[k]), now, isFirst);
    y[i][c] = to;
    yFrom[k] = to;
    yLast[k] = now;
  }
}
