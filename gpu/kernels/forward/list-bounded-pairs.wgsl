// Lists the pairs that the forward step examines, one thread a pair: those with a vertex that moves. A pair whose geometry is
// stale is skipped if its last normal keeps it further than δ apart for every α up to the guard's, rounding included
// (docs/method.md, S11): that of the heights here, and that of the written numbers, which are not checked.
//
// In: motions, pairs, pairInfo. Out: limits.entry, control.activeCount, candidateArguments; the list is in no order. Mirrors
// staysApart (src/solver/cpu/bound.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/corners.wgsl"
// #include "common/lengths.wgsl"
// #include "common/range.wgsl"
// #include "common/heights.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> motions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(6) var<storage, read> pairInfo: array<u32>;
@group(0) @binding(7) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> limits: array<Limit>;
// #include "common/motions.wgsl"
// #include "common/append.wgsl"
// #include "common/list-size.wgsl"

// How far a vertex moves along n at the guard's α, and what bounds its rounding: α Σ |n_c D_c|, D = y − x.
fn motionOf(v: i32, n: vec3f) -> vec2f {
  let motion = motions[2u * u32(v) + 1u];
  return vec2f(motion.w * heightOf(n, motion.xyz), motion.w * spreadOf(n, motion.xyz));
}

// Whether a gap that holds at both ends of the motions is large enough to skip the pair. What is written, fl(x + αD), errs by
// u Σ |n x| and 3u α Σ |n D| a vertex: the second is in the margin of the motion; the first exceeds δ/2 where the mesh has gone
// far beyond the coordinates for which the floor was derived, and is therefore required as well.
//
// coarseness: the largest Σ |n x|
fn isSkipped(gap: f32, delta: f32, coarseness: f32, margin: f32) -> bool {
  return gap > max(delta, 0.5 * delta + 2.0 * errorOf(coarseness)) + margin;
}

// Heights along a vertex's motion are linear in α, so both ends suffice. Their rounding: e at x, 8u α Σ |n D| on the motion, α
// of the guard: three products or sums of n·D and the product with α err by 4u, what is written by 3u of what α of at most this
// grants, and every one of these errors is a share of α D, however far beyond this step the target lies. Slots that the kind
// does not use repeat one of side b, as their heights do. Written out slot by slot: this runs for every pair, and indexed
// components are slow.
fn staysApart(ids: vec4i, kind: u32, n: vec3f) -> bool {
  let p = cornersOfX(ids);
  let heights = measureHeights(kind, p, n);
  let isThird = ids.z >= 0;
  let isFourth = ids.w >= 0;
  let third = select(ids.y, ids.z, isThird);
  let motion0 = motionOf(ids.x, n);
  let motion1 = motionOf(ids.y, n);
  let motion2 = motionOf(third, n);
  let motion3 = motionOf(select(third, ids.w, isFourth), n);
  let to1 = heights.h.y + motion1.x;
  var lo = min(heights.lo, motion0.x);
  var hi = max(heights.hi, max(heights.h.z + motion2.x, heights.h.w + motion3.x));
  if (kind == EE) {
    lo = min(lo, to1);
  } else {
    hi = max(hi, to1);
  }
  let spread = max(max(motion0.y, motion1.y), max(motion2.y, motion3.y));
  let delta = select(parameters.delta, parameters.leastDelta, parameters.hasDistances != 0u);
  let far = max(max(spreadOf(n, p.p0), spreadOf(n, p.p1)), max(spreadOf(n, p.p2), spreadOf(n, p.p3)));
  let margin = 2.0 * (heights.error + errorOf(spread));
  return isSkipped(lo - hi, delta, far, margin);
}

fn isBounded(p: u32, kind: u32, isCurrent: bool) -> bool {
  let ids = pairVertex[p];
  if (!anyMoves(ids)) {
    return false;
  }
  if (parameters.isPlanar == 1u && !isCurrent) {
    return !staysApart(ids, kind, pairNormal[p].xyz);
  }
  return true;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn listForBound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  // No thread leaves before the place is reserved: all of a subgroup take part in it.
  let isPair = p < control.pairCount;
  let info = pairInfo[select(0u, p, isPair)];
  let kind = info & KIND_MASK;
  let isCurrent = (info >> STAMP_SHIFT) == control.clock;
  var isListed = false;
  if (isPair) {
    isListed = isBounded(p, kind, isCurrent);
  }
  let place = reserve(&control.activeCount, isListed);
  if (isListed) {
    limits[place].entry = entryOf(p, kind) | select(0u, IS_CURRENT, isCurrent);
    coverPlace(LIST_SLOT_ACTIVE, place);
  }
}
