// What the two versions of limit-edge.wgsl have in common, for kernels that have the bindings of
// pull-back/edge-limits.wgsl and say how an edge is projected:
//
//   projectLimit(e)   whether the edge acts
// #include "common/lengths.wgsl"
// #include "pull-back/pass-momentum.wgsl"
// #include "pull-back/passes.wgsl"

// What the projection of an edge changes of its multiplier, and whether the edge acts.
struct LimitPush {
  change: vec3f,
  acts: bool,
}

// The multiplier c of an edge, after openPass. This is what edgeRow and edgePush have of it; its ends are so far apart, and
// have these inverse masses.
fn pushLimit(e: u32, row: vec4f, before: vec4f, apart: vec3f, w: vec2f) -> LimitPush {
  let begun = select(row.xyz + passMomentum * (row.xyz - before.xyz), vec3f(0.0), isFirstPass);
  let shortened = max(0.0, row.w - pullBack.slack);
  let both = w.x + w.y;
  let d = apart + both * begun;
  let length = lengthOf(d);
  var f = 0.0;
  if (length > shortened) {
    f = (1.0 - shortened / length) / both;
  }
  let next = select(f * d, pullBack.warmEdges * row.xyz, isFirstPass);
  edgeRow[e] = vec4f(next, row.w);
  edgePush[e] = vec4f(select(row.xyz, next, isFirstPass), before.w);
  let acts = any(begun != vec3f(0.0)) || any(next != vec3f(0.0)) || length > NEAR_LIMIT * shortened;
  return LimitPush(next - begun, acts);
}

// An edge that a complete pass finds to act is swept by the passes after it.
fn listActive(e: u32, colour: u32) {
  let listed = pullBack.colours + edgeColours[colour];
  atomicStore(&edgeActive[listed + atomicAdd(&edgeActive[colour], 1u)], e);
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
      listActive(e, colour);
    }
  }
}
