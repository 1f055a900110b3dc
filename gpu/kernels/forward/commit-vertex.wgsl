// The work of forward/commit.wgsl on one vertex, but for the marks, for kernels with the same bindings.

fn isInBox(i: u32, at: vec3f) -> bool {
  var isInside = true;
  for (var c = 0u; c < axes(); c++) {
    isInside = isInside && at[c] >= box[6u * i + c] && at[c] <= box[6u * i + c + 3u];
  }
  return isInside;
}

// The check found a half-space that the vertex would break.
fn isReverted(flags: u32) -> bool {
  return (flags & REVERTED) != 0u;
}

fn leavesBox(i: u32, at: vec3f) -> bool {
  return parameters.hasBoxes == 1u && !isInBox(i, at);
}

// What the vertex adds to the counters of the step.
struct Committed {
  // r was not 0 before the step
  wasOpen: bool,
  r: f32,
  // bits of the length of its motion, where it has no trust box; else 0
  motionBits: u32,
  // it moves and has not reached y
  isLeft: bool,
}

fn commitVertex(i: u32) -> Committed {
  let k = 3u * i;
  let flags = atomicLoad(&vertexStep[i].flags);
  var here = vec3f(0.0);
  var written = vec3f(0.0);
  let towards = y[i].xyz;
  for (var c = 0u; c < axes(); c++) {
    here[c] = bitcast<f32>(x[k + c]);
    written[c] = bitcast<f32>(next[k + c]);
  }
  var to = here;
  var motionBits = 0u;
  if ((flags & MOVING) != 0u && atomicLoad(&vertexStep[i].alpha) != 0u) {
    if (isReverted(flags) || leavesBox(i, written)) {
      atomicStore(&vertexStep[i].alpha, 0u);
    } else {
      to = written;
      for (var c = 0u; c < axes(); c++) {
        x[k + c] = next[k + c];
      }
      if (parameters.hasBoxes == 0u) {
        motionBits = bitcast<u32>(lengthOf(to - here)) & 0x7fffffffu;
      }
    }
  }
  var r = progress[i].residual;
  let wasOpen = r > 0.0;
  if (wasOpen) {
    let rest = abs(towards - to);
    let isThere = rest.x <= parameters.arrivedWithin && rest.y <= parameters.arrivedWithin &&
      rest.z <= parameters.arrivedWithin;
    r = select(r * (1.0 - bitcast<f32>(atomicLoad(&vertexStep[i].alpha))), 0.0, isThere);
    progress[i].residual = r;
  }
  return Committed(wasOpen, r, motionBits, (flags & MOVING) != 0u && any(towards != to));
}
