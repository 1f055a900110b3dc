// Projections of edge limits (pull-back/edge-limits.wgsl), for kernels that bind what it does. This is the version for processors;
// pull-back/limit-edge-ahead.wgsl takes its place on graphics cards, to the same bytes.
// #include "common/lengths.wgsl"
// #include "pull-back/passes.wgsl"

// Whether the edge acts.
fn projectLimit(e: u32) -> bool {
  let limit = edgeRow[e].w;
  if (limit < 0.0) {
    return false;
  }
  let ends = edgeEnds[e];
  // Two, which the compiler does not know: it would unroll the loop.
  let sides = select(1u, 2u, ends.x != ends.y);
  var apart = vec3f(0.0);
  var w = vec2f(0.0);
  for (var side = 0u; side < sides; side++) {
    let v = ends[side];
    let at = vec3f(y[3u * v], y[3u * v + 1u], y[3u * v + 2u]);
    apart = select(apart - at, at, side == 0u);
    w[side] = inverseMass[v];
  }
  let isFirst = control.sweepsDone == 0u;
  let push = edgePush[2u * e];
  let before = edgePush[2u * e + 1u].xyz;
  let begun = select(push.xyz + control.momentum * (push.xyz - before), vec3f(0.0), isFirst);
  let shortened = max(0.0, limit - pullBack.slack);
  let both = w.x + w.y;
  let d = apart + both * begun;
  let length = lengthOf(d);
  var f = 0.0;
  if (length > shortened) {
    f = (1.0 - shortened / length) / both;
  }
  let next = select(f * d, pullBack.warmEdges * push.xyz, isFirst);
  let change = next - begun;
  edgePush[2u * e] = vec4f(next, push.w);
  edgePush[2u * e + 1u] = vec4f(select(push.xyz, next, isFirst), 0.0);
  if (any(change != vec3f(0.0))) {
    for (var side = 0u; side < sides; side++) {
      if (w[side] > 0.0) {
        let share = select(w[side], -w[side], side == 0u);
        let k = 3u * ends[side];
        y[k] += share * change.x;
        y[k + 1u] += share * change.y;
        y[k + 2u] += share * change.z;
      }
    }
  }
  return any(begun != vec3f(0.0)) || any(next != vec3f(0.0)) || length > NEAR_LIMIT * shortened;
}

// The edges of a colour from the n-th on, every so-many-th.
fn sweepColour(colour: u32, begin: u32, stride: u32) {
  let isComplete = isCompletePass(control.sweepsDone);
  let first = edgeColours[colour];
  let all = edgeColours[colour + 1u] - first;
  let listed = pullBack.colours + first;
  let count = select(atomicLoad(&edgeActive[colour]), all, isComplete);
  for (var n = begin; n < count; n += stride) {
    var e = first + n;
    if (!isComplete) {
      e = atomicLoad(&edgeActive[listed + n]);
    }
    if (projectLimit(e) && isComplete) {
      atomicStore(&edgeActive[listed + atomicAdd(&edgeActive[colour], 1u)], e);
    }
  }
}

// These colours one after the other, in one workgroup of so many threads.
fn sweepColours(firstColour: u32, endColour: u32, local: u32, threads: u32) {
  for (var colour = firstColour; colour < endColour; colour++) {
    // Before a colour, not after it: software drivers compile twice what precedes the first barrier.
    storageBarrier();
    sweepColour(colour, local, threads);
  }
}
