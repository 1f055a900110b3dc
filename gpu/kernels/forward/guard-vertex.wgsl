// The work of forward/guard.wgsl on one vertex, for kernels with the same bindings.
// #include "common/vertex-sorts.wgsl"

fn guardVertex(i: u32) {
  let k = 3u * i;
  var here = vec3f(0.0);
  var to = vec3f(0.0);
  var isNumber = true;
  for (var c = 0u; c < axes(); c++) {
    let bits = y[i][c];
    isNumber = isNumber && isInRange(bits);
    here[c] = x[k + c];
    to[c] = bitcast<f32>(bits);
  }
  if (!isNumber) {
    for (var c = 0u; c < axes(); c++) {
      y[i][c] = goal[k + c];
      to[c] = bitcast<f32>(goal[k + c]);
    }
  }
  let isMoving = here.x != to.x || here.y != to.y || here.z != to.z;
  var alpha = 1.0;
  if (isMoving) {
    if (parameters.hasBoxes == 1u) {
      let q = 6u * i;
      for (var c = 0u; c < axes(); c++) {
        alpha = min(alpha, boxShare(here[c], to[c], box[q + c], box[q + c + 3u]));
      }
    } else {
      // Pairs outside P are at least D apart: two vertices that move γ(D − floor)/2 each leave them the floor.
      let cap = 0.5 * parameters.gamma * max(0.0, control.radius - parameters.floor);
      let travel = lengthOf(to - here);
      if (travel > cap) {
        alpha = cap / travel;
      }
    }
  }
  motions[2u * i] = vec4f(here, select(-IMMOVABLE_VERTEX, IMMOVABLE_VERTEX, isMoving));
  motions[2u * i + 1u] = vec4f(to - here, alpha);
  vertexStep[i].guard = alpha;
  atomicStore(&vertexStep[i].alpha, bitcast<u32>(alpha) & 0x7fffffffu);
  atomicStore(&vertexStep[i].limiter, NO_PAIR);
  atomicStore(&vertexStep[i].flags, select(0u, MOVING, isMoving));
}
