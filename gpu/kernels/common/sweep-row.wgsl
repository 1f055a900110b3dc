// One projection of a contact (Eq. 9): Δλ = max(0, λ − s/K) − λ with s = c + Σ J_k·(y_k − x_k), y_k += w_k J_k Δλ; and the
// queue of contacts whose turn has come. Mirrors Contacts.sweep (src/solver/cpu/contacts.ts): a contact runs once those
// before it have run at every movable vertex it has, which gives what sweeping in the order of the places gives.
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> pairWork: array<PairWork>;
// of contacts-links.wgsl
@group(0) @binding(7) var<storage, read_write> links: array<atomic<u32>>;
// second third: the queue, a round's contacts behind those of the round before
@group(0) @binding(8) var<storage, read_write> rows: array<u32>;
// #include "common/corners.wgsl"
// #include "common/corners-of-x.wgsl"
// #include "common/closest.wgsl"
// #include "common/contact-row.wgsl"
// #include "common/row-index.wgsl"

// Runs a contact, and puts those that waited for nothing else into the queue.
fn project(entry: u32) {
  let p = entry & INDEX_MASK;
  let ids = pairVertex[p];
  let masses = pairWork[p].slots;
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
      release(atomicLoad(&links[4u * p + s]));
    }
  }
}

// One contact less that this one waits for.
fn release(entry: u32) {
  if (entry == NO_ENTRY) {
    return;
  }
  let state = atomicAdd(&links[4u * control.pairCapacity + (entry & INDEX_MASK)], 1u) + 1u;
  let waits = state >> WAITS_SHIFT;
  if ((state & 0xffffu) == waits * (control.sweepsDone + 1u)) {
    rows[control.pairCapacity + atomicAdd(&control.queueTail, 1u)] = entry;
  }
}
