// The row of one contact (backward/contacts-rows.wgsl), for kernels with the same bindings.
// #include "common/corners.wgsl"
// #include "common/closest.wgsl"
// #include "common/corners-of-x.wgsl"
// #include "backward/contact-jacobian.wgsl"
// #include "backward/sweep-order.wgsl"

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
