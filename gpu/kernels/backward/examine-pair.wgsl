// The work of backward/geometry.wgsl on one pair, for kernels with the same bindings.

// Positions at the start of the request, slot by slot for the reason in common/corners-of-x.wgsl.
fn cornersOfStart(kind: u32, ids: vec4i) -> Corners {
  var p: Corners;
  for (var s = 0u; s < cornersOf(kind); s++) {
    p = withCorner(p, s, motions[2u * u32(ids[s]) + 1u].xyz);
  }
  return p;
}

// δ of a pair: the mean of its sides, a side's being the largest of its vertices' parts (src/solver/part-distances.ts).
fn distanceOfPair(kind: u32, ids: vec4i) -> f32 {
  if (parameters.hasDistances == 0u) {
    return parameters.delta;
  }
  var side = vec2f(0.0);
  for (var s = 0u; s < cornersOf(kind); s++) {
    let distance = motions[2u * u32(ids[s]) + 1u].w;
    side = select(vec2f(side.x, max(side.y, distance)), vec2f(max(side.x, distance), side.y), s < sideAOf(kind));
  }
  return 0.5 * (side.x + side.y);
}

// A vertex of enough weight can be pushed, or a stuck one has to know of the pair (backward/slide.wgsl).
fn isOfUse(sorts: vec4f, weight: vec4f) -> bool {
  let isHeavy = weight >= vec4f(MIN_MOVABLE_WEIGHT);
  return any((sorts == vec4f(STUCK_VERTEX)) | ((sorts == vec4f(MOVABLE_VERTEX)) & isHeavy));
}

struct Examined {
  isCandidate: bool,
  weight: vec4f,
  entry: u32,
  distance: f32,
}

fn examine(n: u32) -> Examined {
  let entry = listed[n];
  let p = pairOf(entry);
  let kind = kindOf(entry);
  let ids = pairVertex[p];
  var points: Corners;
  // The sort of each vertex (common/motions.wgsl).
  var sorts = vec4f(0.0);
  for (var s = 0u; s < cornersOf(kind); s++) {
    let motion = motions[2u * u32(ids[s])];
    points = withCorner(points, s, motion.xyz);
    sorts[s] = abs(motion.w);
  }
  let stored = pairNormal[p];
  let delta = distanceOfPair(kind, ids);
  var measured: Measured;
  var isCandidate = false;
  var own = stored.w;
  // Once at x; for a candidate whose δ_p is not known yet, once more at the start.
  var rounds = 1u;
  for (var round = 0u; round < rounds; round++) {
    let nearest = closestOfPair(kind, points);
    if (round == 0u) {
      measured = measureNearest(kind, points, nearest, stored.xyz);
      isCandidate = measured.distance > 0.0 && measured.gap < delta + parameters.furtherRange * delta;
      if (isCandidate && own == 0.0 && parameters.isAiming == 0u) {
        points = cornersOfStart(kind, ids);
        rounds = 2u;
      }
    } else {
      let d0 = lengthOf(nearest.difference);
      own = min(delta, max(RECOVERY * d0, MIN_DELTA_SHARE * delta));
    }
  }
  isCandidate = isCandidate && (measured.gap < own || parameters.isAiming == 1u);
  pairNormal[p] = vec4f(measured.normal, own);
  pairDistance[p] = measured.distance;
  pairInfo[p] = kind | (control.clock << STAMP_SHIFT);
  return Examined(isCandidate && isOfUse(sorts, measured.weight), measured.weight, entry, measured.distance);
}

fn keepCandidate(place: u32, examined: Examined) {
  candidates[place].weight = examined.weight;
  candidates[place].entry = examined.entry;
  candidates[place].distance = examined.distance;
  candidates[place].isUnique = 0u;
}
