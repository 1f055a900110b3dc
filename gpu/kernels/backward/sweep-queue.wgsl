// The queue of a contact sweep: a contact runs once those before it, in the order of their places, have run at every movable
// vertex it has, which gives what sweeping in that order gives. The kernel that includes it says what a projection does:
//
//   changeOf(c, state, value)   Δλ of candidate c, where the constraint has this value; keeps its λ
//
// In: x, pairVertex, pairNormal; followers and waits (contacts-links.wgsl). In and out: y, candidates (λ), contacts (queue),
// control.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
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
// #include "backward/contact-words.wgsl"

// The words of struct Candidate in fours: one read instead of four.
struct SweptCandidate {
  weight: vec4f,
  masses: vec4f,
  // entry, bits of the distance, isUnique, place
  about: vec4u,
  // λ, K, c(x), λ before
  state: vec4f,
}

// One projection: s = c + Σ J_k·(y_k − x_k), y_k += w_k J_k Δλ with the Δλ of the sweep (changeOf). Runs the contact at this place
// of the queue, and queues those that waited for nothing else.
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
  var motion: Corners;
  for (var s = 0u; s < corners; s++) {
    let here = pointOfX(u32(ids[s]));
    let k = 3u * u32(ids[s]);
    at = withCorner(at, s, here);
    motion = withCorner(motion, s, vec3f(y[k], y[k + 1u], y[k + 2u]) - here);
  }
  let row = jacobianOf(kind, at, weight, bitcast<f32>(about.y), pairNormal[p].xyz);
  var value = state.z;
  for (var s = 0u; s < corners; s++) {
    if (weight[s] > 0.0) {
      value += dot3(rowOf(row, s), cornerOf(motion, s));
    }
  }
  let change = changeOf(c, state, value);
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

// Contact c waits for one contact less; the last one queues it.
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

// A contact of a round in whole dispatches.
fn runRound(group: vec3u, groups: vec3u, local: u32) {
  let n = control.queueBegin + linearIndex(group, groups, local);
  if (n < control.queueEnd) {
    project(n);
  }
}

// Not the end of any queue: nothing is left to run.
const NOTHING: u32 = 0xffffffffu;

// Where the queue ends, for all threads alike.
var<workgroup> tail: u32;

// The sweep, or what the rounds left of it, in one workgroup.
fn runTail(local: u32) {
  var begin = control.queueEnd;
  var rounds = control.sweepRounds;
  loop {
    if (local == 0u) {
      let end = atomicLoad(&control.queueTail);
      tail = select(end, NOTHING, end == begin);
    }
    // Also a barrier: no thread appends to the queue before all have read its end.
    let end = workgroupUniformLoad(&tail);
    if (end == NOTHING) {
      break;
    }
    rounds++;
    for (var n = begin + local; n < end; n += TAIL_THREADS) {
      project(n);
    }
    begin = end;
    // The next round sees what this one wrote. Every barrier costs as much to compile as a kernel.
    storageBarrier();
  }
  if (local == 0u) {
    control.mostRounds = max(control.mostRounds, rounds);
    // The next sweep of this step begins with the same contacts, which still stand where linkRows put them.
    atomicStore(&control.queueTail, atomicLoad(&control.readyCount));
    control.queueEnd = 0u;
    control.sweepRounds = 0u;
    control.sweepsDone += 1u;
  }
}
