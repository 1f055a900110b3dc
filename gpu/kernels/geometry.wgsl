// Geometry of the pairs that may be contacts, one thread a listed pair (active-geometry.wgsl): closest points, certified normal and gap at x
// (method.md 4.3), δ_p where it is not known yet, and the list of those with gap < δ_p (activation, Eqs. 10–12).
//
// In: ways, listed, pairVertex. In and out: pairNormal (xyz, w = δ_p or 0). Out: pairDistance, the stamp in pairInfo;
// candidates, as many as there is room for, and control.candidateCount, which counts on beyond that. Mirrors
// ContactCandidates.find and pairDelta (src/solver/cpu/contact-candidates.ts, contacts.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
// #include "common/measure.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> ways: array<vec4f>;
@group(0) @binding(3) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(4) var<storage, read> listed: array<u32>;
@group(0) @binding(5) var<storage, read_write> pairInfo: array<u32>;
@group(0) @binding(6) var<storage, read_write> pairNormal: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> pairDistance: array<f32>;
@group(0) @binding(8) var<storage, read_write> candidates: array<Candidate>;
// #include "common/ways.wgsl"
// #include "common/corners-at.wgsl"
// #include "common/row-index.wgsl"

// d₀ may be this much larger than it was at the request's start, so that pressed pairs recover over requests.
const RECOVERY: f32 = 1.1;
// δ_p never falls below this share of δ.
const MIN_DELTA_SHARE: f32 = 0.25;

fn pointOfStart(v: i32) -> vec3f {
  return ways[2u * u32(max(v, 0)) + 1u].xyz;
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
      let distance = ways[2u * u32(ids[s]) + 1u].w;
      side = select(vec2f(side.x, max(side.y, distance)), vec2f(max(side.x, distance), side.y), s < sideAOf(kind));
    }
  }
  return 0.5 * (side.x + side.y);
}

// A vertex of enough weight can be pushed, or a stuck one has to know of the pair (slide.wgsl).
fn isOfUse(ids: vec4i, weight: vec4f) -> bool {
  for (var s = 0u; s < 4u; s++) {
    let sort = select(0.0, abs(ways[2u * u32(max(ids[s], 0))].w), ids[s] >= 0);
    if (sort == STUCK_WAY || (sort == MOVABLE_WAY && weight[s] >= MIN_MOVABLE_WEIGHT)) {
      return true;
    }
  }
  return false;
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
  let entry = listed[n];
  let p = pairOf(entry);
  let kind = kindOf(entry);
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
  pairDistance[p] = measured.distance;
  pairInfo[p] = kind | (control.clock << STAMP_SHIFT);
  if (!isCandidate || !isOfUse(ids, measured.weight)) {
    return;
  }
  let place = atomicAdd(&control.candidateCount, 1u);
  if (place < control.candidateCapacity) {
    candidates[place].weight = measured.weight;
    candidates[place].entry = entry;
    candidates[place].distance = measured.distance;
    candidates[place].isUnique = 0u;
  }
}
