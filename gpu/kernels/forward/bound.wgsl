// Bounds how far the vertices of a pair may go from x_i towards y_i (Eqs. 14–17; docs/method.md, S5), one thread a pair of the
// list that list-bounded-pairs.wgsl has made.
//
// Half-space rule: certified normal n, heights h, gap g = lo − hi > 2e, shares s_a + s_b = 1 by how fast each side approaches,
//
//   side a keeps h ≥ lo − γ s_a (g − floor),   side b keeps h ≤ hi + γ s_b (g − floor)
//
// so that one plane separates both sides along the whole linear piece, for every combination of the other vertices' α.
// Isotropic rule: |α_i (y_i − x_i)| ≤ γ (g − floor)/2. A pair without a certificate freezes its vertices (S2).
//
// In: motions, pairVertex, limits.entry. In and out: pairNormal and pairDistance (where measured here), vertexStep.alpha
// (atomicMin on the bits of numbers in [0, 1]). Out: limits, for the check; bounds on α of the four slots, NO_BOUND where
// there is none. Mirrors boundPairs (src/solver/cpu/bound.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/measure.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> motions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read_write> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> pairDistance: array<f32>;
@group(0) @binding(7) var<storage, read_write> limits: array<Limit>;
@group(0) @binding(8) var<storage, read_write> bounds: array<vec4f>;
// #include "common/motions.wgsl"

// The motions y − x of the vertices: along n, their lengths, and α of the guard.
struct Motions {
  along: vec4f,
  guard: vec4f,
  travel: vec4f,
}

fn motionsOf(ids: vec4i, n: vec3f, corners: u32) -> Motions {
  var own = Motions(vec4f(0.0), vec4f(1.0), vec4f(0.0));
  for (var s = 0u; s < corners; s++) {
    let motion = motions[2u * u32(ids[s]) + 1u];
    let d = motion.xyz;
    own.along[s] = heightOf(n, d);
    own.guard[s] = motion.w;
    if (parameters.isPlanar == 0u) {
      own.travel[s] = lengthOf(d);
    }
  }
  return own;
}

// budget/approach where the budget does not cover the approach: never infinite, never −0 (docs/method.md, S7).
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
    atomicMin(&vertexStep[v].alpha, bitcast<u32>(bound) & 0x7fffffffu);
  }
}

// A pair without a certificate: α = 0 for its vertices (docs/method.md, S2).
fn freeze(n: u32, ids: vec4i, corners: u32) {
  atomicAdd(&control.touchingCount, 1u);
  bounds[n] = vec4f(0.0);
  for (var s = 0u; s < corners; s++) {
    atomicMin(&vertexStep[ids[s]].alpha, 0u);
  }
}

// What both sides together may use of a gap: the budget leaves the whole floor (docs/method.md, S5), or more where the step is to.
fn roomOf(gap: f32) -> f32 {
  return max(0.0, gap - max(parameters.floor, parameters.keptGap));
}

// ext_side = s_side (g − floor) + this: together at most g − floor/2, so that the half-spaces of the check are disjoint
// whatever rounding did to the bounds.
fn reserveOf(gap: f32) -> f32 {
  return 0.5 * max(0.0, min(gap, parameters.floor) - 0.5 * parameters.floor);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn bound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= atomicLoad(&control.activeCount)) {
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
    heights = measureAnyHeights(kind, points, normal.xyz);
    gap = gapOf(heights, pairDistance[p]);
  } else {
    let measured = measurePair(kind, points, normal.xyz);
    normal = vec4f(measured.normal, normal.w);
    heights = measured.heights;
    gap = measured.gap;
    pairNormal[p] = normal;
    pairDistance[p] = measured.distance;
  }
  let own = motionsOf(ids, normal.xyz, corners);
  if (!isCertified(gap, heights.error)) {
    freeze(n, ids, corners);
    return;
  }
  let room = roomOf(gap);
  let isPlanar = parameters.isPlanar == 1u;
  let isSideA = vec4u(0u, 1u, 2u, 3u) < vec4u(sideA);
  let approach = select(own.along, -own.along, isSideA);
  var share = 0.5;
  if (isPlanar) {
    // Unused slots approach nothing.
    let seen = max(approach * own.guard, vec4f(0.0));
    let a = select(vec4f(0.0), seen, isSideA);
    let b = select(seen, vec4f(0.0), isSideA);
    let ua = max(max(a.x, a.y), max(a.z, a.w));
    let ub = max(max(b.x, b.y), max(b.z, b.w));
    let larger = max(ua, ub);
    if (larger > 0.0) {
      // Divided by the larger one first: the sum of both need not be finite.
      share = (ua / larger) / (ua / larger + ub / larger);
    }
  }
  let part = select(vec4f(1.0 - share), vec4f(share), isSideA);
  let slack = select(vec4f(heights.hi) - heights.h, heights.h - vec4f(heights.lo), isSideA);
  let motion = select(own.travel, approach, vec4<bool>(isPlanar));
  var most = vec4f(NO_BOUND);
  for (var s = 0u; s < corners; s++) {
    if (motion[s] > 0.0) {
      let sliding = parameters.gamma * part[s] * room + parameters.gamma * slack[s];
      most[s] = boundOf(select(0.5 * parameters.gamma * room, sliding, isPlanar), motion[s]);
      keepBound(ids[s], most[s]);
    }
  }
  let reserve = reserveOf(gap);
  let low = heights.lo - (share * room + reserve);
  let high = heights.hi + ((1.0 - share) * room + reserve);
  limits[n] = Limit(low, high, heights.error, entry);
  bounds[n] = most;
}
