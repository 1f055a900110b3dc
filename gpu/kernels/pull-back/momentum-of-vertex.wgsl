// What pull-back/momentum.wgsl does a vertex, for kernels that bind control, y, yFrom and yLast.

// The vertex's part of ⟨y_from − y, y − y_last⟩.
fn turnOf(i: u32) -> f32 {
  var own = 0.0;
  for (var k = 3u * i; k < 3u * i + axes(); k++) {
    own += (yFrom[k] - y[k]) * (y[k] - yLast[k]);
  }
  return own;
}

fn extrapolateVertex(i: u32) {
  // Before the first sweep there is no last one: y is where it begins.
  let isFirst = control.sweepsDone == 1u;
  for (var k = 3u * i; k < 3u * i + axes(); k++) {
    let now = y[k];
    let to = select(now + control.momentum * (now - yLast[k]), now, isFirst);
    y[k] = to;
    yFrom[k] = to;
    yLast[k] = now;
  }
}
