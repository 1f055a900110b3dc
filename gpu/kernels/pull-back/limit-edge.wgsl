// Projections of edge limits (pull-back/edge-limits.wgsl), for kernels with the same bindings. This is the version for
// processors; pull-back/limit-edge-ahead.wgsl takes its place on graphics cards, to the same bytes.
// #include "pull-back/limit-colour.wgsl"

// Whether the edge acts.
fn projectLimit(e: u32) -> bool {
  let row = edgeRow[e];
  if (row.w < 0.0) {
    return false;
  }
  let ends = edgeEnds[e];
  // 2, in a form that the compiler does not know: it would unroll the loop.
  let sides = select(1u, 2u, ends.x != ends.y);
  var apart = vec3f(0.0);
  var w = vec2f(0.0);
  for (var side = 0u; side < sides; side++) {
    let v = ends[side];
    let at = y[v].xyz;
    apart = select(apart - at, at, side == 0u);
    w[side] = inverseMass[v];
  }
  let push = pushLimit(e, row, edgePush[e], apart, w);
  if (any(push.change != vec3f(0.0))) {
    for (var side = 0u; side < sides; side++) {
      if (w[side] > 0.0) {
        let share = select(w[side], -w[side], side == 0u);
        let v = ends[side];
        y[v] = vec4f(y[v].xyz + share * push.change, 0.0);
      }
    }
  }
  return push.acts;
}

// These colours one after the other, in one workgroup of so many threads.
fn sweepColours(firstColour: u32, endColour: u32, local: u32, threads: u32) {
  openPass();
  for (var colour = firstColour; colour < endColour; colour++) {
    // The barrier comes before a colour, not after it: software drivers compile twice what precedes the first barrier.
    storageBarrier();
    sweepColour(colour, local, threads);
  }
}
