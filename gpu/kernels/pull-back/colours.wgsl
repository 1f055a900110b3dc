// Colours the contacts of a step of the pull-back and puts them in the order of its sweeps, colour by colour: contacts of a
// colour share no movable vertex. Each contact gets the smallest colour that no contact before it has at any of its movable
// vertices, in the order of their places: the greedy colouring in that order. A sweep takes one round a colour, about a third
// as many rounds as contacts that wait for those before them in that order need, and a step makes many sweeps. It takes the
// colours downward: the first colours have the most contacts, and y satisfies exactly what the last round of a sweep has
// projected.
//
//   openColours   one thread a row: no colour is in use
//   colourRound   a round of contacts, each of which waits for no other one, as a whole dispatch
//   colourTail    the other rounds, in one workgroup; then the numbers of contacts of the colours become those of the rounds of
//                 the sweeps. Where no round was a whole dispatch, it does all
//   orderRows     one thread a row: its place in the queue
//
// A contact has at most four movable vertices with CONTACTS_PER_VERTEX contacts each, so that at most 4 (CONTACTS_PER_VERTEX −
// 1) = 92 others are before it: the greedy colours are less than MOST_COLOURS = 96. Those in use at a vertex are bits of three
// words of its ContactList, and how many contacts each colour has, and where they begin, lies where the lists of candidates
// were: neither is read between the selection of contacts and the next step.
//
// In: pairVertex, candidates, contacts (rows, followers, waits, queue and counts as contacts-links.wgsl leaves them). Out:
// contacts: queue and counts of the sweeps; control. Its reference is colourByPlaces (test/support/sweep-order.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(3) var<storage, read> candidates: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(5) var<storage, read_write> contacts: array<atomic<u32>>;
// the round of a whole dispatch; of the tail, its first one
@group(0) @binding(6) var<uniform> sweepRange: SweepRange;
// #include "backward/contact-words.wgsl"
// #include "backward/rounds.wgsl"
// #include "backward/release-all.wgsl"

// Three words of bits; more than any contact needs.
const MOST_COLOURS: u32 = 96u;
const_assert 4u * (CONTACTS_PER_VERTEX - 1u) < MOST_COLOURS;

// How many contacts have a colour, and the first place of them in the queue. Rows are at least as many as colours, and
// candidates as rows.
fn sizeAt(colour: u32) -> u32 {
  return colour;
}

fn firstAt(colour: u32) -> u32 {
  return control.candidateCapacity + colour;
}

// The colour of a contact is where its followers were, its place among those of the colour where it was that it waits.
fn colourAt(c: u32) -> u32 {
  return followerAt(c, 0u);
}

fn verticesOf(c: u32) -> vec4i {
  return pairVertex[pairOf(candidates[4u * c + 2u].x)];
}

fn massesOf(c: u32) -> vec4f {
  return bitcast<vec4f>(candidates[4u * c + 1u]);
}

fn coloursOf(v: i32, mass: f32) -> vec3u {
  var colours = vec3u(0u);
  if (mass > 0.0) {
    colours = vec3u(atomicLoad(&lists[v].count), atomicLoad(&lists[v].cursor), atomicLoad(&lists[v].rows));
  }
  return colours;
}

fn setColours(v: i32, mass: f32, colours: vec3u) {
  if (mass > 0.0) {
    atomicStore(&lists[v].count, colours.x);
    atomicStore(&lists[v].cursor, colours.y);
    atomicStore(&lists[v].rows, colours.z);
  }
}

// There are no more colours than rows.
fn openRow(n: u32) {
  atomicStore(&contacts[sizeAt(n)], 0u);
  let c = atomicLoad(&contacts[rowAt(n)]);
  let ids = verticesOf(c);
  let masses = massesOf(c);
  for (var s = 0u; s < 4u; s++) {
    setColours(ids[s], masses[s], vec3u(0u));
  }
}

fn orderRow(n: u32) {
  let c = atomicLoad(&contacts[rowAt(n)]);
  let first = atomicLoad(&contacts[firstAt(atomicLoad(&contacts[colourAt(c)]))]);
  atomicStore(&contacts[queueAt(first + atomicLoad(&contacts[waitsAt(c)]))], c);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn openColours(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n < atomicLoad(&control.rowCount)) {
    openRow(n);
  }
}

fn openPass() {}

fn seeksRounds() -> bool {
  return true;
}

fn smallestFree(used: vec3u) -> u32 {
  let first = firstTrailingBit(~used);
  return select(select(64u + first.z, 32u + first.y, used.y != 0xffffffffu), first.x, used.x != 0xffffffffu);
}

// Colours the contact at this place of the queue. No other contact of the round has one of its movable vertices.
fn project(n: u32, next: NextRound) {
  let c = atomicLoad(&contacts[queueAt(n)]);
  let followers = followersOf(c);
  let ids = verticesOf(c);
  let masses = massesOf(c);
  let x = coloursOf(ids.x, masses.x);
  let y = coloursOf(ids.y, masses.y);
  let z = coloursOf(ids.z, masses.z);
  let w = coloursOf(ids.w, masses.w);
  // A driver that computes something else must not write elsewhere.
  let colour = min(smallestFree(x | y | z | w), MOST_COLOURS - 1u);
  let bit = select(vec3u(0u), vec3u(1u << (colour % 32u)), vec3u(colour / 32u) == vec3u(0u, 1u, 2u));
  setColours(ids.x, masses.x, x | bit);
  setColours(ids.y, masses.y, y | bit);
  setColours(ids.z, masses.z, z | bit);
  setColours(ids.w, masses.w, w | bit);
  let place = atomicAdd(&contacts[sizeAt(colour)], 1u);
  atomicStore(&contacts[colourAt(c)], colour);
  atomicStore(&contacts[waitsAt(c)], place);
  releaseAll(followers, next);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn colourRound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let round = sweepRange.round;
  let first = linearIndex(group, groups, local);
  let isWide = passRound(round, first, WORKGROUP_SIZE * groups.x * groups.y);
  if (first == 0u) {
    let wideBefore = select(control.wideOrdering, 0u, round == 0u);
    control.wideOrdering = select(wideBefore, round + 1u, isWide);
  }
}

// Every adapter allows this many threads; those that allow more use more (gpu/device/kernel.ts).
override SERIAL_THREADS: u32 = TAIL_THREADS;

var<workgroup> sizes: array<u32, MOST_COLOURS>;

@compute @workgroup_size(SERIAL_THREADS)
fn colourTail(@builtin(local_invocation_index) local: u32) {
  let firstRound = sweepRange.round;
  let rows = atomicLoad(&control.rowCount);
  let rowsAlone = select(0u, rows, firstRound == 0u);
  for (var n = local; n < rowsAlone; n += SERIAL_THREADS) {
    openRow(n);
  }
  storageBarrier();
  let passed = passRounds(firstRound, local, SERIAL_THREADS);
  for (var colour = local; colour < MOST_COLOURS; colour += SERIAL_THREADS) {
    var size = 0u;
    if (colour < rows) {
      size = atomicLoad(&contacts[sizeAt(colour)]);
    }
    sizes[colour] = size;
  }
  workgroupBarrier();
  // Every colour below the largest one has contacts.
  var colours = 0u;
  while (colours < MOST_COLOURS && sizes[colours] > 0u) {
    colours++;
  }
  // A round of the sweeps for each colour, and none after them.
  for (var round = local; round < min(rows, max(passed.rounds, MOST_COLOURS)); round += SERIAL_THREADS) {
    var size = 0u;
    if (round < colours) {
      size = sizes[colours - 1u - round];
    }
    atomicStore(&contacts[countAt(round)], size);
  }
  if (local == 0u) {
    var first = 0u;
    for (var round = 0u; round < colours; round++) {
      let colour = colours - 1u - round;
      atomicStore(&contacts[firstAt(colour)], first);
      first += sizes[colour];
    }
    var ready = 0u;
    if (colours > 0u) {
      ready = sizes[colours - 1u];
    }
    atomicStore(&control.readyCount, ready);
    control.evenBegin = 0u;
    control.wideOrdering = max(select(control.wideOrdering, 0u, firstRound == 0u), passed.wide);
    control.mostOrderingTurns = max(control.mostOrderingTurns, passed.turns);
  }
  storageBarrier();
  for (var n = local; n < rowsAlone; n += SERIAL_THREADS) {
    orderRow(n);
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn orderRows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n < atomicLoad(&control.rowCount)) {
    orderRow(n);
  }
}
