// One projection of a contact (Eq. 9): Δλ = max(0, λ − s/K) − λ with s = c + Σ J_k·(y_k − x_k), y_k += w_k J_k Δλ; and the
// queue of contacts whose turn has come. Mirrors Contacts.sweep (src/solver/cpu/contacts.ts): a contact runs once those
// before it have run at every movable vertex it has, which gives what sweeping in the order of the places gives.
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> candidates: array<SweptCandidate>;
// of backward/contacts-links.wgsl: followers, waits, and the queue, a round's contacts behind those of the round before
@group(0) @binding(7) var<storage, read_write> contacts: array<atomic<u32>>;
// #include "common/corners.wgsl"
// #include "common/corners-of-x.wgsl"
// #include "common/closest.wgsl"
// #include "backward/contact-jacobian.wgsl"
// #include "common/pair-entry.wgsl"
// #include "backward/contact-words.wgsl"

// Runs the contact at this place of the queue, and puts those that waited for nothing else into the queue.
fn project(n: u32) {
  let c = atomicLoad(&contacts[queueAt(n)]);
  let about = candidates[c].about;
  let entry = about.x;
  let kind = kindOf(entry);
  let p = pairOf(entry);
  let ids = pairVertex[p];
  let masses = candidates[c].masses;
  let weight = candidates[c].weight;
  let state = candidates[c].state;
  // Differences first: c₀ − J·x would cancel.
  let corners = cornersOf(kind);
  var at: Corners;
  var way: Corners;
  for (var s = 0u; s < corners; s++) {
    let here = pointOfX(u32(ids[s]));
    let k = 3u * u32(ids[s]);
    at = withCorner(at, s, here);
    way = withCorner(way, s, vec3f(y[k], y[k + 1u], y[k + 2u]) - here);
  }
  let row = jacobianOf(kind, at, weight, bitcast<f32>(about.y), pairNormal[p].xyz);
  var value = state.z;
  for (var s = 0u; s < corners; s++) {
    if (weight[s] > 0.0) {
      value += dot3(rowOf(row, s), cornerOf(way, s));
    }
  }
  let old = state.x;
  let lambda = max(0.0, old - value / state.y);
  let change = lambda - old;
  if (change != 0.0) {
    candidates[c].state.x = lambda;
  }
  for (var s = 0u; s < corners; s++) {
    if (masses[s] > 0.0) {
      if (change != 0.0) {
        let k = 3u * u32(ids[s]);
        let push = masses[s] * change;
        let j = rowOf(row, s);
        y[k] += push * j.x;
        y[k + 1u] += push * j.y;
        y[k + 2u] += push * j.z;
      }
      release(atomicLoad(&contacts[followerAt(c, s)]));
    }
  }
}

// One contact less that this one waits for.
fn release(c: u32) {
  if (c == NO_FOLLOWER) {
    return;
  }
  let state = atomicAdd(&contacts[waitsAt(c)], 1u) + 1u;
  let waits = state >> WAITS_SHIFT;
  if ((state & 0xffffu) == waits * (control.sweepsDone + 1u)) {
    atomicStore(&contacts[queueAt(atomicAdd(&control.queueTail, 1u))], c);
  }
}
