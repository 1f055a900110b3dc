// Geometry of the pairs that may be contacts, one thread a pair of the list that list-near-pairs.wgsl has made: closest points,
// certified normal and gap at x (docs/method.md, S1), δ_p where it is not known yet, and the list of the candidates, those with
// gap < δ_p (activation, Eqs. 10–12); in the pull-back gap < δ, or more for large offsets, whatever gap they aim for
// (pull-back/shortfalls.wgsl).
//
// In: motions, listed, pairVertex. In and out: pairNormal (xyz; w = δ_p or 0, in the pull-back the aim). Out: pairDistance, the
// stamp in pairInfo; candidates, as many as there is room for, and control.candidateCount, which counts beyond that. Mirrors
// findCandidates and pairDelta (src/solver/cpu/candidates.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/measure.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> motions: array<vec4f>;
@group(0) @binding(3) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(4) var<storage, read> listed: array<u32>;
@group(0) @binding(5) var<storage, read_write> pairInfo: array<u32>;
@group(0) @binding(6) var<storage, read_write> pairNormal: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> pairDistance: array<f32>;
@group(0) @binding(8) var<storage, read_write> candidates: array<Candidate>;
// #include "common/motions.wgsl"
// #include "common/append.wgsl"
// #include "backward/examine-pair.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn geometry(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  // No thread leaves before the place is reserved: all of a subgroup take part in it.
  var examined: Examined;
  if (n < atomicLoad(&control.listedCount)) {
    examined = examine(n);
  }
  let place = reserve(&control.candidateCount, examined.isCandidate);
  if (examined.isCandidate && place < control.candidateCapacity) {
    keepCandidate(place, examined);
  }
}
