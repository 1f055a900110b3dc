// Edge length limits of the pull-back as exact balls, |y_i − y_j| ≤ R = σ L*, with a vector multiplier c for each edge (Dykstra's
// projection):
//
//   W = w_i + w_j,  d = y_i − y_j + W ĉ,  f = max(0, 1 − R/|d|) / W,  c = f d,  y_i −= w_i (c − ĉ),  y_j += w_j (c − ĉ)
//
// so that y_i − y_j = d (1 − f W), of length min(|d|, R), afterwards. ĉ = c + β (c − c_before) is the extrapolated multiplier: y
// was extrapolated by the same β (pull-back/momentum.wgsl). Pass 0 of a step moves y by the multipliers that it begins with.
//
// The edges of a colour share no movable vertex, so that their order does not matter. Every so many sweeps look at all edges and
// list those that act, colour by colour: the edges that push, have been projected, or are near their limit. The sweeps between
// look at these only; an edge that is not listed has c = 0. `limitsWide`, one thread an edge: one colour. `limitsTail`: the
// colours at the end, one after the other, in one workgroup.
//
// In: edgeRow (w = R, negative = no limit), edgeEnds, edgeColours, inverseMass, control. In and out: y, edgePush (c, and c_before),
// edgeActive (how many of each colour act, and which). Mirrors EdgeLimits.sweep and #project (src/solver/cpu/edge-limits.ts).
// #include "common/dispatch.wgsl"
// #include "common/lengths.wgsl"
@group(0) @binding(0) var<uniform> pullBack: PullBack;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(3) var<storage, read> edgeRow: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> edgePush: array<vec4f>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(6) var<uniform> edgeRange: EdgeRange;
@group(0) @binding(7) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(8) var<storage, read_write> edgeActive: array<atomic<u32>>;
@group(0) @binding(9) var<uniform> control: ControlView;
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

@compute @workgroup_size(WORKGROUP_SIZE)
fn limitsWide(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  sweepColour(edgeRange.firstColour, linearIndex(group, groups, local), WORKGROUP_SIZE * groups.x * groups.y);
}

@compute @workgroup_size(TAIL_THREADS)
fn limitsTail(@builtin(local_invocation_index) local: u32) {
  let hasOwnTail = control.sweepsDone > 0u && !isCompletePass(control.sweepsDone);
  for (var colour = select(edgeRange.firstColour, control.firstTail, hasOwnTail); colour < edgeRange.endColour; colour++) {
    // Before a colour, not after it: software drivers compile twice what precedes the first barrier.
    storageBarrier();
    sweepColour(colour, local, TAIL_THREADS);
  }
}
