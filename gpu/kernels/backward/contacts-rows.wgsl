// Rows of the contacts that are kept, one thread each: c = d − δ_p, in the pull-back d − aim, K = Σ w |J|² with inverse masses w (Eqs. 9–12), λ = 0.
//
// In: the kept candidates (contacts: queue), x, pairs, inverseMass. In and out: candidates. Out: contacts: row. Mirrors
// fillRows (src/solver/cpu/contact-rows.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/corners.wgsl"
// #include "common/closest.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(4) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(6) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(7) var<storage, read_write> contacts: array<u32>;
// #include "common/corners-of-x.wgsl"
// #include "backward/contact-jacobian.wgsl"
// #include "backward/sweep-order.wgsl"
// #include "backward/contact-words.wgsl"
// #include "common/append.wgsl"

// Whether the candidate has a row: nothing can push one whose vertices have no mass to move.
fn makeRow(c: u32) -> bool {
  let entry = candidates[c].entry;
  let p = pairOf(entry);
  let kind = kindOf(entry);
  let ids = pairVertex[p];
  let weight = candidates[c].weight;
  let distance = candidates[c].distance;
  let normal = pairNormal[p];
  let row = jacobianOf(kind, cornersOfX(kind, ids), weight, distance, normal.xyz);
  var masses = vec4f(0.0);
  var stiffness = 0.0;
  for (var s = 0u; s < cornersOf(kind); s++) {
    if (weight[s] > 0.0) {
      let mass = inverseMass[ids[s]];
      let j = rowOf(row, s);
      masses[s] = mass;
      stiffness += mass * dot3(j, j);
    }
  }
  if (!(stiffness > 0.0)) {
    return false;
  }
  candidates[c].masses = masses;
  candidates[c].place = placeOf(p, control.pairCount, control.clock);
  candidates[c].lambda = 0.0;
  candidates[c].stiffness = stiffness;
  candidates[c].excess = distance - normal.w;
  return true;
}

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
