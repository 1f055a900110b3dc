// Runs the queue of a contact sweep (backward/rounds.wgsl), for kernels that bind what backward/sweep-queue.wgsl does. This is the
// version for graphics cards; backward/run-queue.wgsl, with the same declarations and the same arithmetic, is that for processors.
//
// A round of a sweep has few contacts and waits for the round before, so that its time is that of its longest chain of reads. All reads of
// a contact but those of y concern what no sweep changes, or what only this contact changes: they can be made while earlier rounds run. The
// first sweep of a step leaves beside each contact in the queue its entry. Later sweeps are pipelined over *turns*, in each of which a
// thread runs at most one contact: while a turn runs, the threads read the constraints of the next one, and which contacts the one after it
// has. Slots are written out, so that the reads of all four are under way at once. All sweeps of a step must be made by kernels of this version.
// #include "common/corners.wgsl"
// #include "common/closest.wgsl"
// #include "backward/contact-jacobian.wgsl"
// #include "backward/contact-words.wgsl"
// #include "backward/swept-candidate.wgsl"
// #include "backward/rounds.wgsl"

// A contact of the queue.
struct QueuedContact {
  isThere: bool,
  candidate: u32,
  entry: u32,
}

// What a contact reads beside positions.
struct Constraint {
  contact: QueuedContact,
  ids: vec4i,
  weight: vec4f,
  masses: vec4f,
  distance: f32,
  state: vec4f,
  normal: vec3f,
}

fn constraintOf(contact: QueuedContact) -> Constraint {
  let swept = candidates[contact.candidate];
  let p = pairOf(contact.entry);
  let ids = pairVertex[p];
  let normal = pairNormal[p].xyz;
  return Constraint(contact, ids, swept.weight, swept.masses, bitcast<f32>(swept.about.y), swept.state, normal);
}

fn placeOfX(v: i32) -> vec3f {
  return motions[2u * u32(v)].xyz;
}

fn placeOfY(v: i32) -> vec3f {
  return y[v].xyz;
}

fn withSlot(value: f32, weight: f32, j: vec3f, motion: vec3f) -> f32 {
  if (weight > 0.0) {
    return value + dot3(j, motion);
  }
  return value;
}

fn moveSlot(v: i32, mass: f32, change: f32, j: vec3f, at: vec3f) {
  if (mass > 0.0) {
    let push = mass * change;
    y[v] = vec4f(at + push * j, 0.0);
  }
}

// One projection: s = c + Σ J_k·(y_k − x_k), y_k += w_k J_k Δλ with the Δλ of the sweep (changeOf). Unused slots name a vertex too, and
// nothing depends on where it is.
fn projectRow(constraint: Constraint, at: Corners, now: Corners) {
  let row = jacobianOf(kindOf(constraint.contact.entry), at, constraint.weight, constraint.distance, constraint.normal);
  // Differences first: c₀ − J·x would cancel.
  var value = constraint.state.z;
  value = withSlot(value, constraint.weight.x, row.j0, now.p0 - at.p0);
  value = withSlot(value, constraint.weight.y, row.j1, now.p1 - at.p1);
  value = withSlot(value, constraint.weight.z, row.j2, now.p2 - at.p2);
  value = withSlot(value, constraint.weight.w, row.j3, now.p3 - at.p3);
  let change = changeOf(constraint.contact.candidate, constraint.state, value);
  if (change != 0.0) {
    moveSlot(constraint.ids.x, constraint.masses.x, change, row.j0, now.p0);
    moveSlot(constraint.ids.y, constraint.masses.y, change, row.j1, now.p1);
    moveSlot(constraint.ids.z, constraint.masses.z, change, row.j2, now.p2);
    moveSlot(constraint.ids.w, constraint.masses.w, change, row.j3, now.p3);
  }
}

fn cornersAtX(ids: vec4i) -> Corners {
  return Corners(placeOfX(ids.x), placeOfX(ids.y), placeOfX(ids.z), placeOfX(ids.w));
}

fn cornersAtY(ids: vec4i) -> Corners {
  return Corners(placeOfY(ids.x), placeOfY(ids.y), placeOfY(ids.z), placeOfY(ids.w));
}

fn project(n: u32, next: NextRound) {
  let c = atomicLoad(&contacts[queueAt(n)]);
  var followers = vec4u(NO_FOLLOWER);
  if (next.isSought) {
    followers = vec4u(followerOf(c, 0u), followerOf(c, 1u), followerOf(c, 2u), followerOf(c, 3u));
  }
  let entry = candidates[c].about.x;
  let constraint = constraintOf(QueuedContact(true, c, entry));
  projectRow(constraint, cornersAtX(constraint.ids), cornersAtY(constraint.ids));
  if (next.isSought) {
    atomicStore(&contacts[queuedEntryAt(n)], entry);
    releaseAll(followers, next);
  }
}

fn followerOf(c: u32, slot: u32) -> u32 {
  return atomicLoad(&contacts[followerAt(c, slot)]);
}

// What waitsAt says of a contact that waits for one contact less; 0 = there is none.
fn countRun(c: u32) -> u32 {
  var state = 0u;
  if (c != NO_FOLLOWER) {
    state = atomicAdd(&contacts[waitsAt(c)], 1u) + 1u;
  }
  return state;
}

// Each of these waits for one contact less; the last one that it waits for queues it. All four counts are under way at once.
fn releaseAll(followers: vec4u, next: NextRound) {
  let states = vec4u(countRun(followers.x), countRun(followers.y), countRun(followers.z), countRun(followers.w));
  let isReady = (states != vec4u(0u)) & ((states & vec4u(0xffffu)) == (states >> vec4u(WAITS_SHIFT)));
  let ready = select(vec4u(0u), vec4u(1u), isReady);
  let count = ready.x + ready.y + ready.z + ready.w;
  if (count > 0u) {
    var place = next.begin + atomicAdd(&contacts[countAt(next.round)], count);
    for (var s = 0u; s < 4u; s++) {
      if (isReady[s]) {
        atomicStore(&contacts[queueAt(place)], followers[s]);
        place++;
      }
    }
  }
}

// Whether the step's first sweep is finding the rounds, for all threads alike.
var<workgroup> isSought: u32;

// The sweep from this round on, in one workgroup of so many threads.
fn runTail(firstRound: u32, local: u32, threads: u32) {
  if (local == 0u) {
    isSought = select(0u, 1u, control.sweepsDone == 0u);
  }
  if (workgroupUniformLoad(&isSought) == 1u) {
    runRounds(firstRound, local, threads);
  } else {
    followTail(firstRound, local, threads);
  }
}

// Rounds of which a workgroup knows the sizes at a time.
const KNOWN_ROUNDS: u32 = 256u;
var<workgroup> roundSizes: array<u32, KNOWN_ROUNDS>;
// the turns that these rounds take, counted and for all threads alike; contacts of the last of them
var<workgroup> turnsCounted: atomic<u32>;
var<workgroup> turnsKnown: u32;
var<workgroup> lastSize: u32;

// A later sweep, whose rounds are known.
fn followTail(firstRound: u32, local: u32, threads: u32) {
  var first = firstRound;
  var begin = beginOf(firstRound);
  var allTurns = 0u;
  loop {
    if (local == 0u) {
      atomicStore(&turnsCounted, 0u);
    }
    workgroupBarrier();
    for (var n = local; n < KNOWN_ROUNDS; n += threads) {
      let count = contactsOf(first + n);
      roundSizes[n] = count;
      if (count > 0u) {
        atomicAdd(&turnsCounted, (count + threads - 1u) / threads);
      }
    }
    workgroupBarrier();
    if (local == 0u) {
      // Every turn has a contact. Also where a driver computes something else, the sweep ends.
      turnsKnown = min(atomicLoad(&control.rowCount), atomicLoad(&turnsCounted));
      lastSize = roundSizes[KNOWN_ROUNDS - 1u];
    }
    let turns = workgroupUniformLoad(&turnsKnown);
    allTurns += turns;
    // Of the turn that is read ahead: its round, and contacts of the round that earlier turns have.
    var round = 0u;
    var offset = 0u;
    var coming: QueuedContact;
    var next: Constraint;
    for (var turn = 0u; turn < turns + 2u; turn++) {
      let running = next;
      var at: Corners;
      var now: Corners;
      // All reads of this turn, and those for later ones, before anything waits for one of them.
      if (running.contact.isThere) {
        at = cornersAtX(running.ids);
        now = cornersAtY(running.ids);
      }
      next = Constraint();
      if (coming.isThere) {
        next = constraintOf(coming);
      }
      coming = QueuedContact();
      if (turn < turns) {
        let count = roundSizes[round];
        if (offset + local < count) {
          let n = begin + offset + local;
          coming = QueuedContact(true, atomicLoad(&contacts[queueAt(n)]), atomicLoad(&contacts[queuedEntryAt(n)]));
        }
        offset += threads;
        if (offset >= count) {
          begin += count;
          round++;
          offset = 0u;
        }
      }
      if (running.contact.isThere) {
        projectRow(running, at, now);
      }
      // The next turn sees what this one wrote.
      storageBarrier();
    }
    first += KNOWN_ROUNDS;
    if (workgroupUniformLoad(&lastSize) == 0u) {
      break;
    }
  }
  if (local == 0u) {
    control.mostTurns = max(control.mostTurns, allTurns);
    control.evenBegin = 0u;
    control.sweepsDone += 1u;
  }
}
