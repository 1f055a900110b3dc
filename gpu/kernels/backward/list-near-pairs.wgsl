// Lists the pairs that may be contacts, one thread a pair. A pair none of whose vertices moves is skipped, and so is one whose
// last normal shows a gap above STALE_GAP δ (docs/method.md, S11): whatever the normal, its gap bounds the distance from
// below, and its rounding is far below δ/2. A list, because most pairs of P are skipped and the work on the others is long:
// threads that run in step would wait for it.
//
// In: motions, pairVertex, pairInfo, pairNormal. Out: listed, control.listedCount, candidateArguments; the list is in no order.
// Mirrors ActivePairs.gather and staleGap (src/solver/cpu/active-pairs.ts, candidates.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/corners.wgsl"
// #include "common/range.wgsl"
// #include "common/heights.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> motions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairInfo: array<u32>;
@group(0) @binding(6) var<storage, read> pairNormal: array<vec4f>;
// u32[P] entries
@group(0) @binding(7) var<storage, read_write> listed: array<u32>;
// #include "common/motions.wgsl"
// #include "common/append.wgsl"
// #include "common/list-size.wgsl"

fn isNear(p: u32, kind: u32) -> bool {
  let ids = pairVertex[p];
  if (!anyMoves(ids)) {
    return false;
  }
  // Where parts have their own δ, the largest suffices: an unnecessary pair costs its geometry and nothing else.
  let delta = select(parameters.delta, parameters.mostDelta, parameters.hasDistances != 0u);
  return !(measureHeights(kind, cornersOfX(ids), pairNormal[p].xyz).gap > STALE_GAP * delta);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn listForGeometry(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  // No thread leaves before the place is reserved: all of a subgroup take part in it.
  let isPair = p < control.pairCount;
  let kind = pairInfo[select(0u, p, isPair)] & KIND_MASK;
  var isListed = false;
  if (isPair) {
    isListed = isNear(p, kind);
  }
  let place = reserve(&control.listedCount, isListed);
  if (isListed) {
    listed[place] = entryOf(p, kind);
    coverPlace(LIST_SLOT_NEAR, place);
  }
}
