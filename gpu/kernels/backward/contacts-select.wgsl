// Which candidates become contacts of this step, one thread a candidate:
//
//   count   how many candidates each movable vertex has
//   fill    each vertex's list of its candidates
//   unique  near-duplicates (the same vertices with non-zero weight, met through several elements) count once, the closest
//   rank    a contact stays if it is among the CONTACTS_PER_VERTEX closest at every movable vertex it has
//
// "Closer" is by distance, then by index in P. The lists are filled in any order: they are only asked whether something
// better is in them, and how much, so that nothing depends on the order of the threads. Beside each entry of a list stands its key,
// so that one number suffices to skip most entries, without reading their candidate.
//
// In: pairVertex, vertexStep.flags. In and out: candidates.isUnique, lists, contacts (list, keys, queue for those that are kept).
// After `unique` lists.cursor is the number of unique contacts that weigh at the vertex. Mirrors selectContacts
// (src/solver/cpu/select-contacts.ts).
// #include "common/dispatch.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(3) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(4) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(5) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(6) var<storage, read_write> contacts: array<u32>;
// #include "backward/contact-words.wgsl"
// #include "common/append.wgsl"
// #include "backward/candidate-choice.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn count(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = linearIndex(group, groups, local);
  if (c >= atomicLoad(&control.candidateCount)) {
    return;
  }
  countCandidate(c);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn fill(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = linearIndex(group, groups, local);
  if (c >= atomicLoad(&control.candidateCount)) {
    return;
  }
  fillCandidate(c);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn selectUnique(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = linearIndex(group, groups, local);
  if (c >= atomicLoad(&control.candidateCount)) {
    return;
  }
  judgeUnique(c);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn rank(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = linearIndex(group, groups, local);
  var stays = false;
  if (c < atomicLoad(&control.candidateCount)) {
    stays = isKept(c);
  }
  let place = reserve(&control.keptCount, stays);
  if (stays) {
    contacts[queueAt(place)] = c;
  }
}
