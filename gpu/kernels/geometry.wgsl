// Geometry of the pairs that may be contacts, one thread a listed pair (active-geometry.wgsl): closest points, certified normal and gap at x
// (method.md 4.3), δ_p where it is not known yet, and the mark of those with gap < δ_p (activation, Eqs. 10–12).
//
// In: x, start, rows' first third, pairVertex. In and out: pairNormal (xyz, w = δ_p or 0). Out: pairWork.
// Mirrors ContactCandidates.find and pairDelta (src/solver/cpu/contact-candidates.ts, contacts.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
// #include "common/measure.wgsl"
@group(0) @binding(1) var<storage, read> control: ControlView;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> start: array<f32>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> rows: array<u32>;
@group(0) @binding(7) var<storage, read_write> pairNormal: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> pairWork: array<PairWork>;
// #include "common/corners-of-x.wgsl"
// #include "common/row-index.wgsl"

// d₀ may be this much larger than it was at the request's start, so that pressed pairs recover over requests.
const RECOVERY: f32 = 1.1;
// δ_p never falls below this share of δ.
const MIN_DELTA_SHARE: f32 = 0.25;

fn pointOfStart(v: i32) -> vec3f {
  let k = 3u * u32(max(v, 0));
  return vec3f(start[k], start[k + 1u], start[k + 2u]);
}

fn cornersOfStart(ids: vec4i) -> Corners {
  return Corners(pointOfStart(ids.x), pointOfStart(ids.y), pointOfStart(ids.z), pointOfStart(ids.w));
}

// δ of a pair: the mean of its sides, a side's being the largest of its vertices' parts (src/solver/part-distances.ts).
fn distanceOfPair(kind: u32, ids: vec4i) -> f32 {
  if (parameters.hasDistances == 0u) {
    return parameters.delta;
  }
  var side = vec2f(0.0);
  for (var s = 0u; s < 4u; s++) {
    if (ids[s] >= 0) {
      let distance = start[3u * parameters.vertexCount + u32(ids[s])];
      side = select(vec2f(side.x, max(side.y, distance)), vec2f(max(side.x, distance), side.y), s < sideAOf(kind));
    }
  }
  return 0.5 * (side.x + side.y);
}

@compute @workgroup_size(64)
fn geometry(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= control.activeCount) {
    return;
  }
  let p = rows[n] & INDEX_MASK;
  let kind = (rows[n] >> KIND_SHIFT) & KIND_MASK;
  let ids = pairVertex[p];
  let corners = cornersOfX(ids);
  let stored = pairNormal[p];
  let measured = measurePair(kind, corners, stored.xyz);
  let delta = distanceOfPair(kind, ids);
  var isCandidate = measured.distance > 0.0 && measured.gap < delta;
  var own = stored.w;
  if (isCandidate) {
    if (own == 0.0) {
      let d0 = lengthOf(closestOfPair(kind, cornersOfStart(ids)).difference);
      own = min(delta, max(RECOVERY * d0, MIN_DELTA_SHARE * delta));
    }
    isCandidate = measured.gap < own;
  }
  pairNormal[p] = vec4f(measured.normal, own);
  pairWork[p].weight = measured.weight;
  pairWork[p].distance = measured.distance;
  pairWork[p].gap = measured.gap;
  pairWork[p].error = measured.heights.error;
  pairWork[p].stamp = control.clock;
  pairWork[p].mark = select(0u, CANDIDATE | control.clock, isCandidate);
}
