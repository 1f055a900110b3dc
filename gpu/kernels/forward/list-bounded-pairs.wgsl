// Lists the pairs that the forward step has to look at, one thread a pair: those with a vertex that moves. A pair whose
// geometry is stale is passed over if its last normal keeps it further than δ apart for every α up to the guard's,
// rounding included (safety rule 11): that of the heights here, and that of what is written, which nobody checks.
//
// In: ways, pairs, pairInfo. Out: limits.entry, control.listedCount; the list is in no order. Mirrors the first
// half of Forward.#bound (src/solver/cpu/forward.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/corners.wgsl"
// #include "common/lengths.wgsl"
// #include "common/heights.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> ways: array<vec4f>;
@group(0) @binding(5) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(6) var<storage, read> pairInfo: array<u32>;
@group(0) @binding(7) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> limits: array<Limit>;
// #include "common/motion.wgsl"

// How far a vertex gets along n at the guard's α, and what its rounding is measured by: Σ |n_c D_c|.
fn wayOf(v: i32, n: vec3f) -> vec2f {
  let way = ways[2u * u32(v) + 1u];
  return vec2f(way.w * heightOf(n, way.xyz), spreadOf(n, way.xyz));
}

// Heights along a vertex's way are linear in α, so both ends suffice. Their rounding: e at x, 8u Σ |n D| on the way. What is
// written, fl(x + αD), errs by u Σ |n x| and 3u Σ |n D| a vertex: the second is in the margin of the way, and the first, where
// the mesh has gone far beyond the coordinates that the floor was made for, exceeds δ/2 at last and is asked for as well. Slots
// that the kind does not use repeat one of side b, as their heights do. Written out slot by slot: this runs for every
// pair, and numbered components are slow.
fn staysApart(ids: vec4i, kind: u32, n: vec3f) -> bool {
  let p = cornersOfX(ids);
  let heights = measureHeights(kind, p, n);
  let isThird = ids.z >= 0;
  let isFourth = ids.w >= 0;
  let third = select(ids.y, ids.z, isThird);
  let way0 = wayOf(ids.x, n);
  let way1 = wayOf(ids.y, n);
  let way2 = wayOf(third, n);
  let way3 = wayOf(select(third, ids.w, isFourth), n);
  let to1 = heights.h.y + way1.x;
  var lo = min(heights.lo, way0.x);
  var hi = max(heights.hi, max(heights.h.z + way2.x, heights.h.w + way3.x));
  if (kind == EE) {
    lo = min(lo, to1);
  } else {
    hi = max(hi, to1);
  }
  let spread = max(max(way0.y, way1.y), max(way2.y, way3.y));
  let delta = select(parameters.delta, parameters.leastDelta, parameters.hasDistances != 0u);
  let far = max(max(spreadOf(n, p.p0), spreadOf(n, p.p1)), max(spreadOf(n, p.p2), spreadOf(n, p.p3)));
  let margin = 2.0 * (heights.error + errorOf(spread));
  return lo - hi > max(delta, 0.5 * delta + 2.0 * errorOf(far)) + margin;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn listForBound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  if (p >= control.pairCount) {
    return;
  }
  let ids = pairVertex[p];
  if (!anyMoves(ids)) {
    return;
  }
  let kind = pairInfo[p] & KIND_MASK;
  let isCurrent = (pairInfo[p] >> STAMP_SHIFT) == control.clock;
  if (parameters.isPlanar == 1u && !isCurrent) {
    if (staysApart(ids, kind, pairNormal[p].xyz)) {
      return;
    }
  }
  limits[atomicAdd(&control.listedCount, 1u)].entry = entryOf(p, kind) | select(0u, IS_CURRENT, isCurrent);
}
