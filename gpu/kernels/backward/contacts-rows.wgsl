// Rows of the contacts that are kept, one thread each: c = d − δ_p, in the pull-back d − aim, K = Σ w |J|² with inverse masses
// w (Eqs. 9–12), λ = 0.
//
// In: the kept candidates (contacts: queue), x, pairs, inverseMass. In and out: candidates. Out: contacts: row. Mirrors
// fillRows (src/solver/cpu/contact-rows.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(4) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(6) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(7) var<storage, read_write> contacts: array<u32>;
// #include "backward/contact-words.wgsl"
// #include "backward/row-of-candidate.wgsl"
// #include "common/append.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn contactRows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  var c = 0u;
  var isRow = false;
  if (n < atomicLoad(&control.keptCount)) {
    c = contacts[queueAt(n)];
    isRow = makeRow(c);
  }
  let place = reserve(&control.rowCount, isRow);
  if (isRow) {
    contacts[rowAt(place)] = c;
  }
}
