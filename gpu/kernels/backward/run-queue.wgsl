// Runs the queue of a contact sweep (backward/sweep-rounds.wgsl), for kernels with the bindings of
// backward/sweep-queue.wgsl. This is the version for processors: slot by slot, which a software driver compiles in a
// fraction of the time. backward/run-queue-ahead.wgsl takes its place on graphics cards, to the same bytes.
// #include "common/corners.wgsl"
// #include "common/closest.wgsl"
// #include "backward/contact-jacobian.wgsl"
// #include "backward/contact-words.wgsl"
// #include "backward/swept-candidate.wgsl"
// #include "backward/sweep-rounds.wgsl"

// One projection: s = c + Σ J_k·(y_k − x_k), y_k += w_k J_k Δλ with the Δλ of the sweep (changeOf). Runs the contact at this place
// of the queue, and queues those that waited for nothing else if rounds are sought.
fn project(n: u32, next: NextRound) {
  let c = atomicLoad(&contacts[queueAt(n)]);
  let about = aboutOf(c);
  let entry = about.x;
  let kind = kindOf(entry);
  let p = pairOf(entry);
  let ids = pairVertex[p];
  let masses = massesOf(c);
  let weight = weightOf(c);
  let state = stateOf(c);
  // Differences first: c₀ − J·x would cancel.
  let corners = cornersOf(kind);
  var at: Corners;
  var motion: Corners;
  for (var s = 0u; s < corners; s++) {
    let here = motions[2u * u32(ids[s])].xyz;
    at = withCorner(at, s, here);
    motion = withCorner(motion, s, y[ids[s]].xyz - here);
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
        let v = ids[s];
        y[v] = vec4f(y[v].xyz + masses[s] * change * rowOf(row, s), 0.0);
      }
      if (next.isSought) {
        release(atomicLoad(&contacts[followerAt(c, s)]), next);
      }
    }
  }
}

// Contact c waits for one contact less; the last one queues it.
fn release(c: u32, next: NextRound) {
  if (c == NO_FOLLOWER) {
    return;
  }
  let state = atomicAdd(&contacts[waitsAt(c)], 1u) + 1u;
  if ((state & 0xffffu) == state >> WAITS_SHIFT) {
    let place = atomicAdd(&contacts[countAt(next.round)], 1u);
    atomicStore(&contacts[queueAt(next.begin + place)], c);
  }
}

// The sweep from this round on, in one workgroup of so many threads.
fn runTail(firstRound: u32, local: u32, threads: u32) {
  runRounds(firstRound, local, threads);
}
