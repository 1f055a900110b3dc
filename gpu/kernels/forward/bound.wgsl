// How far a pair's vertices may go from x_i towards y_i, one thread a listed pair (forward/list-bounded-pairs.wgsl; Eqs. 14–17,
// method.md 4.2).
//
// Half-space rule: certified normal n, heights h, gap g = lo − hi > 2e, shares s_a + s_b = 1 by who approaches how fast,
//
//   side a keeps h ≥ lo − γ s_a (g − floor),   side b keeps h ≤ hi + γ s_b (g − floor)
//
// so that one plane parts both sides all along the linear piece, for every combination of the other vertices' α.
// Isotropic rule: |α_i D_i| ≤ γ (g − floor)/2. A pair without a certificate freezes its vertices.
//
// In: ways, pairVertex, limits.entry. In and out: pairNormal and pairDistance (when measured here), motion.alpha (atomicMin
// on bits of numbers in [0, 1]). Out: limits, for the check; bounds on α of the four slots, NO_BOUND where there is none.
// Mirrors Forward.#bound (src/solver/cpu/forward.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/measure.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> ways: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> motion: array<Motion>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read_write> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> pairDistance: array<f32>;
@group(0) @binding(7) var<storage, read_write> limits: array<Limit>;
@group(0) @binding(8) var<storage, read_write> bounds: array<vec4f>;
// #include "common/motion.wgsl"

// What the vertices want: y − x along n and its length, α of the guard.
struct Wish {
  along: vec4f,
  guard: vec4f,
  travel: vec4f,
  // max Σ |n_c D_c|
  spread: f32,
}

fn wishOf(ids: vec4i, n: vec3f, corners: u32) -> Wish {
  var wish = Wish(vec4f(0.0), vec4f(1.0), vec4f(0.0), 0.0);
  for (var s = 0u; s < corners; s++) {
    let way = ways[2u * u32(ids[s]) + 1u];
    let d = way.xyz;
    wish.along[s] = heightOf(n, d);
    wish.guard[s] = way.w;
    wish.spread = max(wish.spread, spreadOf(n, d));
    if (parameters.isPlanar == 0u) {
      wish.travel[s] = lengthOf(d);
    }
  }
  return wish;
}

// budget/approach where the budget does not cover it; no infinities, no negative zero (safety rule 7).
fn boundOf(budget: f32, approach: f32) -> f32 {
  if (budget >= approach) {
    return NO_BOUND;
  }
  if (!(budget > 0.0)) {
    return 0.0;
  }
  return budget / approach;
}

fn keepBound(v: i32, bound: f32) {
  if (bound < 1.0) {
    atomicMin(&motion[v].alpha, bitcast<u32>(bound) & 0x7fffffffu);
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn bound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= control.activeCount) {
    return;
  }
  let entry = limits[n].entry;
  let p = pairOf(entry);
  let kind = kindOf(entry);
  let ids = pairVertex[p];
  let corners = cornersOf(kind);
  let sideA = sideAOf(kind);
  let points = cornersOfX(ids);
  var normal = pairNormal[p];
  var heights: Heights;
  var gap: f32;
  if ((entry & IS_CURRENT) != 0u) {
    heights = measureHeights(kind, points, normal.xyz);
    gap = min(heights.gap, pairDistance[p]);
  } else {
    let measured = measurePair(kind, points, normal.xyz);
    normal = vec4f(measured.normal, normal.w);
    heights = measured.heights;
    gap = measured.gap;
    pairNormal[p] = normal;
    pairDistance[p] = measured.distance;
  }
  let wish = wishOf(ids, normal.xyz, corners);
  if (!(gap > 2.0 * heights.error)) {
    atomicAdd(&control.touchingCount, 1u);
    bounds[n] = vec4f(0.0);
    for (var s = 0u; s < corners; s++) {
      atomicMin(&motion[ids[s]].alpha, 0u);
    }
    return;
  }
  let room = max(0.0, gap - parameters.floor);
  let isPlanar = parameters.isPlanar == 1u;
  let isSideA = vec4u(0u, 1u, 2u, 3u) < vec4u(sideA);
  let approach = select(wish.along, -wish.along, isSideA);
  var share = 0.5;
  if (isPlanar) {
    // Slots that are not used approach nothing.
    let seen = max(approach * wish.guard, vec4f(0.0));
    let a = select(vec4f(0.0), seen, isSideA);
    let b = select(seen, vec4f(0.0), isSideA);
    let ua = max(max(a.x, a.y), max(a.z, a.w));
    let ub = max(max(b.x, b.y), max(b.z, b.w));
    let larger = max(ua, ub);
    if (larger > 0.0) {
      // By the larger one first: the sum of both need not be finite.
      share = (ua / larger) / (ua / larger + ub / larger);
    }
  }
  let part = select(vec4f(1.0 - share), vec4f(share), isSideA);
  let slack = select(vec4f(heights.hi) - heights.h, heights.h - vec4f(heights.lo), isSideA);
  let way = select(wish.travel, approach, vec4<bool>(isPlanar));
  var most = vec4f(NO_BOUND);
  for (var s = 0u; s < corners; s++) {
    if (way[s] > 0.0) {
      let sliding = parameters.gamma * part[s] * room + parameters.gamma * slack[s];
      most[s] = boundOf(select(0.5 * parameters.gamma * room, sliding, isPlanar), way[s]);
      keepBound(ids[s], most[s]);
    }
  }
  // ext_side = s_side (g − floor) + (min(g, floor) − floor/2)/2: together at most g − floor/2, so that the half-spaces of
  // the check are disjoint whatever rounding did to the bounds.
  let reserve = 0.5 * max(0.0, min(gap, parameters.floor) - 0.5 * parameters.floor);
  let low = heights.lo - (share * room + reserve);
  let high = heights.hi + ((1.0 - share) * room + reserve);
  limits[n] = Limit(low, high, heights.error, entry);
  bounds[n] = most;
}
