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
// In: edgeEnds, edgeColours, inverseMass, control. In and out: y, edgeRow (c; w = R, negative = no limit), edgePush (c_before;
// w = colour), edgeActive (how many of each colour act, and which). Mirrors sweepEdges (src/solver/cpu/sweep-edges.ts).
// #include "common/dispatch.wgsl"
@group(0) @binding(0) var<uniform> pullBack: PullBack;
@group(0) @binding(1) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(2) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> edgeRow: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> edgePush: array<vec4f>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(6) var<uniform> edgeRange: EdgeRange;
@group(0) @binding(7) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(8) var<storage, read_write> edgeActive: array<atomic<u32>>;
@group(0) @binding(9) var<uniform> control: ControlView;
// #include "pull-back/limit-edge.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn limitsWide(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  openPass();
  sweepColour(edgeRange.firstColour, linearIndex(group, groups, local), WORKGROUP_SIZE * groups.x * groups.y);
}

// Every adapter allows this many threads; those that allow more use more (gpu/device/kernel.ts).
override SERIAL_THREADS: u32 = TAIL_THREADS;

@compute @workgroup_size(SERIAL_THREADS)
fn limitsTail(@builtin(local_invocation_index) local: u32) {
  let hasOwnTail = control.sweepsDone > 0u && !isCompletePass(control.sweepsDone);
  let first = select(edgeRange.firstColour, min(edgeRange.firstColour, control.firstTail), hasOwnTail);
  sweepColours(first, edgeRange.endColour, local, SERIAL_THREADS);
}
