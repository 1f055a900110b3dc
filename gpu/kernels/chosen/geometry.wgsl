// backward/geometry.wgsl, and of each candidate what `count` of backward/contacts-select.wgsl does. Until a candidate is a row
// its place says at which of its vertices it was counted first, a bit each (chosen/select.wgsl).
//
// In besides: vertexStep.flags. Out besides: lists.count. Mirrors findCandidates (src/solver/cpu/candidates.ts).
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
@group(0) @binding(9) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(10) var<storage, read_write> lists: array<ContactList>;
// #include "common/motions.wgsl"
// #include "common/append.wgsl"
// #include "backward/examine-pair.wgsl"
// #include "backward/candidate-slots.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn countedGeometry(
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
    candidates[place].place = countCandidate(place);
  }
}
