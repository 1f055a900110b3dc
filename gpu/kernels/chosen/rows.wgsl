// Which unique candidates stay, and the rows of those that do, one thread a candidate: what `rank` of
// backward/contacts-select.wgsl, contacts-rows.wgsl and `listRows` of contacts-links.wgsl do one after the other, by the same
// functions. What the later ones write of a candidate the first does not read of any other.
//
// In: x, pairVertex, pairNormal, inverseMass, vertexStep.flags. In and out: control, candidates, lists, contacts. Mirrors
// markFarther and fillRows (src/solver/cpu/closest-contacts.ts, contact-rows.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(4) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(6) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(7) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(8) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(9) var<storage, read_write> contacts: array<u32>;
// #include "backward/contact-words.wgsl"
// #include "backward/candidate-choice.wgsl"
// #include "backward/row-of-candidate.wgsl"
// #include "backward/links-of-row.wgsl"
// #include "common/append.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn chooseRows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = linearIndex(group, groups, local);
  var isRow = false;
  if (c < atomicLoad(&control.candidateCount)) {
    isRow = isKept(c) && makeRow(c);
  }
  let n = reserve(&control.rowCount, isRow);
  if (isRow) {
    contacts[rowAt(n)] = c;
    listRow(n);
  }
}
