// Runs the queue of a contact sweep (backward/sweep-rounds.wgsl), for kernels with the bindings of
// backward/sweep-queue.wgsl. This is the version for graphics cards; backward/run-queue.wgsl, with the same
// declarations and the same arithmetic, is that for processors.
//
// A round of a sweep has few contacts and waits for the round before, so that its time is that of its longest chain of
// reads, and of the reads and writes of scattered words. All reads of a contact but those of y concern what no sweep
// changes, or what only this contact changes. The first sweep of a step packs the constraints of the contacts in the
// order of the queue, where there is room: later sweeps read them in sequence. Later sweeps are pipelined over *turns*,
// in each of which a thread runs at most one contact: while a turn runs, the threads read the constraints of the next
// one, and which contacts the one after it has. Slots are written out, so that the reads of all four are under way at
// once. All sweeps of a step must be made by kernels of this version.
// #include "common/corners.wgsl"
// #include "common/closest.wgsl"
// #include "backward/contact-jacobian.wgsl"
// #include "backward/contact-words.wgsl"
// #include "backward/swept-candidate.wgsl"
// #include "backward/sweep-rounds.wgsl"
// #include "backward/release-all.wgsl"

// What a contact has beside y and its state.
struct Constraint {
  ids: vec4i,
  // bits of the masses; the sign says that the weight of the slot is 0
  masses: vec4u,
  row: Jacobian,
  at: Corners,
}

const UNWEIGHTED: u32 = 0x80000000u;

// Unused slots, which are −1, read vertex 0, and nothing depends on where it is.
fn placeOfX(v: i32) -> vec3f {
  return motions[2u * u32(max(v, 0))].xyz;
}

fn placeOfY(v: i32) -> vec3f {
  return y[max(v, 0)].xyz;
}

fn constraintOf(c: u32) -> Constraint {
  let about = aboutOf(c);
  let p = pairOf(about.x);
  let ids = pairVertex[p];
  let weight = weightOf(c);
  let at = Corners(placeOfX(ids.x), placeOfX(ids.y), placeOfX(ids.z), placeOfX(ids.w));
  let row = jacobianOf(kindOf(about.x), at, weight, bitcast<f32>(about.y), pairNormal[p].xyz);
  let signs = select(vec4u(0u), vec4u(UNWEIGHTED), weight <= vec4f(0.0));
  return Constraint(ids, bitcast<vec4u>(massesOf(c)) | signs, row, at);
}

// The n-th packed constraint lies in eight vectors behind the candidates, those of 32 constraints side by side.
fn packedAt(n: u32) -> u32 {
  return 4u * control.candidateCapacity + 256u * (n / 32u) + n % 32u;
}

fn isPacked(n: u32) -> bool {
  return n < control.packedRows;
}

fn pack(n: u32, constraint: Constraint) {
  let k = packedAt(n);
  let row = constraint.row;
  let at = constraint.at;
  candidates[k] = bitcast<vec4u>(constraint.ids);
  candidates[k + 32u] = constraint.masses;
  candidates[k + 64u] = bitcast<vec4u>(vec4f(row.j0, row.j1.x));
  candidates[k + 96u] = bitcast<vec4u>(vec4f(row.j1.yz, row.j2.xy));
  candidates[k + 128u] = bitcast<vec4u>(vec4f(row.j2.z, row.j3));
  candidates[k + 160u] = bitcast<vec4u>(vec4f(at.p0, at.p1.x));
  candidates[k + 192u] = bitcast<vec4u>(vec4f(at.p1.yz, at.p2.xy));
  candidates[k + 224u] = bitcast<vec4u>(vec4f(at.p2.z, at.p3));
}

fn unpack(k: u32) -> Constraint {
  let j0 = bitcast<vec4f>(candidates[k + 64u]);
  let j1 = bitcast<vec4f>(candidates[k + 96u]);
  let j2 = bitcast<vec4f>(candidates[k + 128u]);
  let p0 = bitcast<vec4f>(candidates[k + 160u]);
  let p1 = bitcast<vec4f>(candidates[k + 192u]);
  let p2 = bitcast<vec4f>(candidates[k + 224u]);
  return Constraint(
    bitcast<vec4i>(candidates[k]),
    candidates[k + 32u],
    Jacobian(j0.xyz, vec3f(j0.w, j1.xy), vec3f(j1.zw, j2.x), j2.yzw),
    Corners(p0.xyz, vec3f(p0.w, p1.xy), vec3f(p1.zw, p2.x), p2.yzw),
  );
}

fn withSlot(value: f32, mass: u32, j: vec3f, motion: vec3f) -> f32 {
  if (mass < UNWEIGHTED) {
    return value + dot3(j, motion);
  }
  return value;
}

fn moveSlot(v: i32, mass: u32, change: f32, j: vec3f, at: vec3f) {
  let w = bitcast<f32>(mass & ~UNWEIGHTED);
  if (w > 0.0) {
    let push = w * change;
    y[v] = vec4f(at + push * j, 0.0);
  }
}

// One projection: s = c + Σ J_k·(y_k − x_k), y_k += w_k J_k Δλ with the Δλ of the sweep (changeOf).
fn projectRow(c: u32, state: vec4f, constraint: Constraint, now: Corners) {
  let ids = constraint.ids;
  let masses = constraint.masses;
  let row = constraint.row;
  let at = constraint.at;
  // Differences first: c₀ − J·x would cancel.
  var value = state.z;
  value = withSlot(value, masses.x, row.j0, now.p0 - at.p0);
  value = withSlot(value, masses.y, row.j1, now.p1 - at.p1);
  value = withSlot(value, masses.z, row.j2, now.p2 - at.p2);
  value = withSlot(value, masses.w, row.j3, now.p3 - at.p3);
  let change = changeOf(c, state, value);
  if (change != 0.0) {
    moveSlot(ids.x, masses.x, change, row.j0, now.p0);
    moveSlot(ids.y, masses.y, change, row.j1, now.p1);
    moveSlot(ids.z, masses.z, change, row.j2, now.p2);
    moveSlot(ids.w, masses.w, change, row.j3, now.p3);
  }
}

fn cornersAtY(ids: vec4i) -> Corners {
  return Corners(placeOfY(ids.x), placeOfY(ids.y), placeOfY(ids.z), placeOfY(ids.w));
}

// In sweeps that are not pipelined: the first one of a step, which packs the constraints, and rounds of later ones that are
// whole dispatches.
fn project(n: u32, next: NextRound) {
  let c = atomicLoad(&contacts[queueAt(n)]);
  var followers = vec4u(NO_FOLLOWER);
  if (next.isSought) {
    followers = followersOf(c);
  }
  let state = stateOf(c);
  var constraint: Constraint;
  if (!isFirstPass && isPacked(n)) {
    constraint = unpack(packedAt(n));
  } else {
    constraint = constraintOf(c);
  }
  projectRow(c, state, constraint, cornersAtY(constraint.ids));
  if (isFirstPass && isPacked(n)) {
    pack(n, constraint);
  }
  if (next.isSought) {
    releaseAll(followers, next);
  }
}

// Whether it is the first sweep of the step, for all threads alike.
var<workgroup> isFirstSweep: u32;

// The sweep from this round on, in one workgroup of so many threads.
fn runTail(firstRound: u32, local: u32, threads: u32) {
  if (local == 0u) {
    isFirstSweep = select(0u, 1u, control.sweepsDone == 0u);
  }
  if (workgroupUniformLoad(&isFirstSweep) == 1u) {
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
  openPass();
  // Read once: between two turns the compiler must assume that they have changed.
  let queue = queueAt(0u);
  let packed = packedAt(0u);
  let packedRows = control.packedRows;
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
    // of the turn after the next one: whether this thread has a contact, which one, and its place in the queue
    var isComing = false;
    var comingContact = 0u;
    var comingPlace = 0u;
    // of the next turn
    var isNext = false;
    var nextContact = 0u;
    var nextState: vec4f;
    var next: Constraint;
    for (var turn = 0u; turn < turns + 2u; turn++) {
      let isRunning = isNext;
      let contact = nextContact;
      let state = nextState;
      let running = next;
      var now: Corners;
      // All reads of this turn, and those for later ones, before anything waits for one of them.
      if (isRunning) {
        now = cornersAtY(running.ids);
      }
      isNext = isComing;
      nextContact = comingContact;
      if (isNext) {
        nextState = stateOf(nextContact);
        if (comingPlace < packedRows) {
          next = unpack(packed + 256u * (comingPlace / 32u) + comingPlace % 32u);
        } else {
          next = constraintOf(nextContact);
        }
      }
      isComing = false;
      if (turn < turns) {
        let count = roundSizes[round];
        isComing = offset + local < count;
        if (isComing) {
          comingPlace = begin + offset + local;
          comingContact = atomicLoad(&contacts[queue + comingPlace]);
        }
        offset += threads;
        if (offset >= count) {
          begin += count;
          round++;
          offset = 0u;
        }
      }
      if (isRunning) {
        projectRow(contact, state, running, now);
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
