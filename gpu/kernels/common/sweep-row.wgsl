// One projection of a contact (Eq. 9): Δλ = max(0, λ − s/K) − λ with s = c + Σ J_k·(y_k − x_k), y_k += w_k J_k Δλ; and the
// rule by which contacts that share a vertex wait for each other. Mirrors Contacts.sweep (src/solver/cpu/contacts.ts):
// a contact runs when it comes first among the waiting ones at every movable vertex it has, which gives what sweeping in
// the order of the places gives.
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> pairWork: array<PairWork>;
@group(0) @binding(7) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(8) var<storage, read_write> rows: array<u32>;
// #include "common/corners.wgsl"
// #include "common/corners-of-x.wgsl"
// #include "common/closest.wgsl"
// #include "common/contact-row.wgsl"
// #include "common/row-index.wgsl"
// #include "common/rng.wgsl"

fn claim(entry: u32) {
  let p = entry & INDEX_MASK;
  let ids = pairVertex[p];
  let place = placeOf(p, control.pairCount, control.clock);
  for (var s = 0u; s < 4u; s++) {
    if (pairWork[p].slots[s] > 0.0) {
      atomicMin(&lists[ids[s]].owner, place);
    }
  }
}

// False if the contact has to wait.
fn project(entry: u32) -> bool {
  let p = entry & INDEX_MASK;
  let ids = pairVertex[p];
  let masses = pairWork[p].slots;
  let place = placeOf(p, control.pairCount, control.clock);
  for (var s = 0u; s < 4u; s++) {
    if (masses[s] > 0.0 && atomicLoad(&lists[ids[s]].owner) != place) {
      return false;
    }
  }
  let kind = (entry >> KIND_SHIFT) & KIND_MASK;
  let weight = pairWork[p].weight;
  let row = jacobianOf(kind, cornersOfX(ids), weight, pairWork[p].distance, pairNormal[p].xyz);
  var value = pairWork[p].third;
  for (var s = 0u; s < 4u; s++) {
    if (weight[s] > 0.0) {
      let k = 3u * u32(ids[s]);
      // Differences first: c₀ − J·x would cancel.
      value += dot3(row.j[s], vec3f(y[k] - x[k], y[k + 1u] - x[k + 1u], y[k + 2u] - x[k + 2u]));
    }
  }
  let old = pairWork[p].first;
  let lambda = max(0.0, old - value / pairWork[p].second);
  let change = lambda - old;
  if (change != 0.0) {
    pairWork[p].first = lambda;
  }
  for (var s = 0u; s < 4u; s++) {
    if (masses[s] > 0.0) {
      if (change != 0.0) {
        let k = 3u * u32(ids[s]);
        let push = masses[s] * change;
        y[k] += push * row.j[s].x;
        y[k + 1u] += push * row.j[s].y;
        y[k + 2u] += push * row.j[s].z;
      }
      // Nobody but the owner comes here, and no other contact has this place: the vertex is free for the next round.
      atomicStore(&lists[ids[s]].owner, NO_OWNER);
    }
  }
  return true;
}
