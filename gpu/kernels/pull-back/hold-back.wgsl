// Shortens the step of a vertex whose edge would grow past its limit because the other end is held: for α_i > α_j and i
// dynamic, the largest α ≥ α_j with |x_i + α D_i − x_j − α_j D_j| ≤ max(R, |x_i − x_j|), D = y − x; pass after pass until
// nothing changes.
//
// Safe: α only falls, x_i lies in every half-space of its pairs and in its box, and both are convex, so that x_i + α D_i does too
// (docs/method.md, S4); what is written is checked as always. It comes after every pair has bounded α and before anything
// is written.
//
// `listHeld`, one thread an edge: lists the edges, colour by colour, that could grow past their limit. The length is
// convex in (α_i, α_j), so over the box [0, α_i] × [0, α_j] of the bounds it is largest at a corner: an edge that is
// short enough at the four corners is so for every α that the passes can reach, can hold nothing back, and is not
// listed. Ends that move alike show why all corners count: their edge is as long at the bounds as before, but longest
// where one end is held, at (α_i, 0) or (0, α_j). What rounding does to this test, some 1e-6 of the limit, is within
// HOLD_BACK_ROUNDING. `holdBack`: the passes, in one workgroup, through the colours upward and downward in turn. Edges
// of a colour share no vertex whose α they may change, so that their order does not matter.
//
// In: motions (common/motions.wgsl), inverseMass, edgeEnds, edgeRow, edgePush (w = colour), edgeColours. In and out:
// vertexStep.alpha, heldEdges (how many of each colour, and which; none afterwards). Mirrors EdgeLimits.holdBack
// (src/solver/cpu/edge-limits.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<uniform> pullBack: PullBack;
@group(0) @binding(2) var<storage, read> motions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(4) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(5) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(6) var<storage, read> edgeRow: array<vec4f>;
@group(0) @binding(7) var<storage, read> edgePush: array<vec4f>;
@group(0) @binding(8) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(9) var<storage, read_write> heldEdges: array<atomic<u32>>;

// Relative: keeps a shortened step clear of its limit under the rounding of a few squares and a root.
const HOLD_BACK_ROUNDING: f32 = 4e-6;

fn dot3(a: vec3f, b: vec3f) -> f32 {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

fn squareOf(a: vec3f) -> f32 {
  return dot3(a, a);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn listHeld(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let e = linearIndex(group, groups, local);
  if (e >= parameters.edgeCount || edgeRow[e].w < 0.0) {
    return;
  }
  let ends = edgeEnds[e];
  let apart = motions[2u * ends.x].xyz - motions[2u * ends.y].xyz;
  let first = bitcast<f32>(atomicLoad(&vertexStep[ends.x].alpha)) * motions[2u * ends.x + 1u].xyz;
  let second = bitcast<f32>(atomicLoad(&vertexStep[ends.y].alpha)) * motions[2u * ends.y + 1u].xyz;
  let most = max(edgeRow[e].w * edgeRow[e].w, squareOf(apart));
  let longest = max(squareOf(apart + first), max(squareOf(apart - second), squareOf(apart + first - second)));
  if (longest <= most) {
    return;
  }
  let colour = u32(edgePush[e].w);
  let place = atomicAdd(&heldEdges[colour], 1u);
  atomicStore(&heldEdges[pullBack.colours + edgeColours[colour] + place], e);
}

// #include "pull-back/hold-back-passes.wgsl"

fn heldAt(n: u32) -> u32 {
  return atomicLoad(&heldEdges[n]);
}

fn emptyHeld(colour: u32) {
  atomicStore(&heldEdges[colour], 0u);
}

fn firstOfColour(colour: u32) -> u32 {
  return edgeColours[colour];
}

fn shorten(e: u32) {
  let ends = edgeEnds[e];
  let alphaX = atomicLoad(&vertexStep[ends.x].alpha);
  let alphaY = atomicLoad(&vertexStep[ends.y].alpha);
  // The order of the bits is that of the numbers.
  let i = select(ends.y, ends.x, alphaX > alphaY);
  let j = select(ends.x, ends.y, alphaX > alphaY);
  let old = bitcast<f32>(max(alphaX, alphaY));
  let held = bitcast<f32>(min(alphaX, alphaY));
  let d = motions[2u * i + 1u].xyz;
  let apart = motions[2u * i].xyz - motions[2u * j].xyz;
  let begin = apart - held * motions[2u * j + 1u].xyz;
  let dd = squareOf(d);
  let ed = dot3(begin, d);
  let ee = squareOf(begin);
  let most = max(edgeRow[e].w * edgeRow[e].w, squareOf(apart));
  let isTooLong = ee + old * (2.0 * ed + old * dd) > most * (1.0 + HOLD_BACK_ROUNDING);
  if (alphaX == alphaY || inverseMass[i] == 0.0 || !(dd > 0.0) || !isTooLong) {
    return;
  }
  // The larger root of |begin + α d|² = most, in the form that does not cancel.
  let rest = most - ee;
  let discriminant = ed * ed + dd * rest;
  var share = held;
  if (discriminant >= 0.0) {
    let root = sqrt(discriminant);
    share = select(root - ed, rest, ed > 0.0) / select(dd, ed + root, ed > 0.0) * (1.0 - HOLD_BACK_ROUNDING);
  }
  let alpha = max(held, min(old, share));
  if (alpha < old) {
    atomicStore(&vertexStep[i].alpha, bitcast<u32>(alpha) & 0x7fffffffu);
    atomicStore(&changes, 1u);
  }
}

@compute @workgroup_size(TAIL_THREADS)
fn holdBack(@builtin(local_invocation_index) local: u32) {
  shortenAll(pullBack.colours, local);
}
