// Contacts of the pull-back and the gaps that they aim for, one thread a pair (src/solver/cpu/contact-aims.ts):
//
//   aim = min(o, d₀ + AIM_GROWTH δ)
//
// `clearAims`, where the phase begins: w of pairNormal has been δ_p, and is the aim from here on. `findShortfalls`: the aim of
// every pair that may be a contact and has none yet, and by how much the pairs of a vertex are nearer than theirs at most. A
// gap along the last normal bounds the distance from below, whatever that normal is.
//
// o is a share of δ, or where parts have offsets of their own that of the pair: the offset of a side is the largest of its
// vertices, that of the pair the mean of both sides; δ likewise.
//
// In: control, x, start, pairVertex, pairInfo, inverseMass, offsets. In and out: pairNormal.w, shortfalls (now). Mirrors aimOf
// (src/solver/cpu/contact-aims.ts) and findShort (shortfalls.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/measure.wgsl"
@group(0) @binding(1) var<uniform> control: ControlView;
@group(0) @binding(2) var<uniform> pullBack: PullBack;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read> start: array<f32>;
@group(0) @binding(5) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(6) var<storage, read> pairInfo: array<u32>;
@group(0) @binding(7) var<storage, read_write> pairNormal: array<vec4f>;
@group(0) @binding(8) var<storage, read> inverseMass: array<f32>;
// contact offset of each vertex
@group(0) @binding(9) var<storage, read> offsets: array<f32>;
// bits of the shortfall of each vertex, non-negative and finite (docs/method.md, S7); those of the best state follow
@group(0) @binding(10) var<storage, read_write> shortfalls: array<atomic<u32>>;
// #include "common/corners-of-x.wgsl"

// δ and contact offset of a pair.
fn lengthsOfPair(kind: u32, ids: vec4i) -> vec2f {
  var first = vec2f(0.0);
  var second = vec2f(0.0);
  for (var s = 0u; s < cornersOf(kind); s++) {
    let v = u32(ids[s]);
    var own = vec2f(0.0);
    if (parameters.hasDistances != 0u) {
      own.x = start[3u * parameters.vertexCount + v];
    }
    if (pullBack.hasOffsets != 0u) {
      own.y = offsets[v];
    }
    let isFirst = s < sideAOf(kind);
    first = select(first, max(first, own), isFirst);
    second = select(max(second, own), second, isFirst);
  }
  let mean = 0.5 * (first + second);
  let delta = select(parameters.delta, mean.x, parameters.hasDistances != 0u);
  return vec2f(delta, select(pullBack.offsetShare * delta, mean.y, pullBack.hasOffsets != 0u));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn clearAims(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  if (p < control.pairCount) {
    pairNormal[p].w = 0.0;
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn findShortfalls(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  if (p >= control.pairCount) {
    return;
  }
  let kind = pairInfo[p] & KIND_MASK;
  let ids = pairVertex[p];
  let normal = pairNormal[p];
  let lengths = lengthsOfPair(kind, ids);
  var points = cornersOfX(kind, ids);
  let gap = measureHeights(kind, points, normal.xyz).gap;
  // What list-near-pairs.wgsl leaves out is no contact. An offset of 0 is not kept: 0 stands for unknown.
  if (gap > STALE_GAP * lengths.x || lengths.y == 0.0) {
    return;
  }
  var aim = normal.w;
  let isNew = aim == 0.0;
  if (!isNew && gap >= aim) {
    return;
  }
  // Once at x; where the aim is not known yet, at the start before.
  if (isNew) {
    for (var s = 0u; s < cornersOf(kind); s++) {
      let k = 3u * u32(ids[s]);
      points = withCorner(points, s, vec3f(start[k], start[k + 1u], start[k + 2u]));
    }
  }
  let rounds = select(1u, 2u, isNew);
  var nearest: Closest;
  for (var round = 0u; round < rounds; round++) {
    nearest = closestOfPair(kind, points);
    if (isNew && round == 0u) {
      aim = min(lengths.y, lengthOf(nearest.difference) + AIM_GROWTH * lengths.x);
      pairNormal[p].w = aim;
      points = cornersOfX(kind, ids);
    }
  }
  let short = aim - lengthOf(nearest.difference);
  if (!(short > 0.0)) {
    return;
  }
  for (var s = 0u; s < cornersOf(kind); s++) {
    let v = u32(ids[s]);
    if (nearest.weight[s] >= MIN_SHORTFALL_WEIGHT && inverseMass[v] > 0.0) {
      atomicMax(&shortfalls[v], bitcast<u32>(short));
    }
  }
}
